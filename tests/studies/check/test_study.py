"""The study `check`: flags, rates, rules and a gate on translations alone."""

from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import GateError, UserError
from babelquake.failures.rules import read_rules
from babelquake.studies.check.study import require

ROWS = {
    "source": ["Hello {name}, you owe 25 euros.", "Good morning to all of you.", "Can sharks get cancer?"] * 2,
    "translation": [
        "Ahoj {jmeno}, dlužíš 25 eur.",
        "Dobré ráno vám všem.",
        "Mohou žraloci dostat rakovinu?",
        "Ahoj {name}, dlužíš 52 eur.",
        "",
        "Ano, žraloci mohou dostat rakovinu.",
    ],
    "system": ["careful"] * 3 + ["careless"] * 3,
    "language_pair": ["en-cs"] * 6,
}


def rate(run: bq.Run, kind: str, system: str | None) -> dict[str, object]:
    place = pl.col("system") == system if system else pl.col("system").is_null()
    (row,) = run.measures.filter(pl.col("scorer") == kind, place).to_dicts()
    return row


def test_rates_have_intervals_per_system_and_over_all() -> None:
    run = bq.check(data=pl.DataFrame(ROWS))
    assert rate(run, "any", "careless")["value"] == 100
    assert rate(run, "placeholder", "careful")["value"] == pytest.approx(100 / 3)
    assert rate(run, "empty", None)["value"] == pytest.approx(100 / 6)
    row = rate(run, "number", "careless")
    assert row["low"] == pytest.approx(6.15, abs=0.01) and row["high"] == pytest.approx(79.23, abs=0.01)
    assert row["n"] == 3


def test_failures_come_with_evidence_and_their_row(tmp_path: Path) -> None:
    run = bq.check(data=pl.DataFrame(ROWS), out=tmp_path / "run")
    found = run.table("failures")
    number = found.filter(pl.col("kind") == "number").row(0, named=True)
    assert (number["row"], number["evidence"]) == (3, "lost: 25; added: 52")
    again = bq.check(data=pl.DataFrame(ROWS), out=tmp_path / "run")
    assert again.measures.equals(run.measures)


def test_only_the_kinds_that_were_asked_for() -> None:
    run = bq.check(data=pl.DataFrame(ROWS), kinds=["number"])
    assert set(run.measures["scorer"]) == {"any", "number"}
    with pytest.raises(UserError, match="number"):
        bq.check(data=pl.DataFrame(ROWS), kinds=["numbr"])


def test_translations_of_perturbed_sources_are_checked_too() -> None:
    data = pl.DataFrame(
        {
            "source": ["I have 25 cats."],
            "perturbed": ["i hav 25 catz"],
            "perturbation": ["raw"],
            "translation": ["Mám 25 koček."],
            "translation_perturbed": ["Mám 52 koček."],
            "system": ["x"],
            "language_pair": ["en-cs"],
        }
    )
    run = bq.check(data=data)
    rates = {row["perturbation"]: row["value"] for row in run.measures.filter(scorer="number").iter_rows(named=True)}
    assert rates == {None: 0, "raw": 100}


def test_an_unknown_language_pair_is_said_and_the_rest_is_checked() -> None:
    data = pl.DataFrame({"source": ["Molo {name}"], "translation": ["Sawubona"], "language_pair": ["xh-zu"]})
    run = bq.check(data=data)
    assert any("negation" in note and "xh-zu" in note for note in run.info.notes)
    assert rate(run, "placeholder", None)["value"] == 100
    without = bq.check(data=pl.DataFrame({"source": ["Molo {name}"], "translation": ["Sawubona"]}))
    assert any("language_pair" in note for note in without.info.notes)


def test_data_without_sources_or_translations() -> None:
    run = bq.check(
        data=pl.DataFrame({"translation": ["I'm sorry, but I cannot translate that."], "language_pair": ["en-cs"]})
    )
    assert rate(run, "refusal", None)["value"] == 100
    assert any("no sources" in note for note in run.info.notes)
    with pytest.raises(UserError, match="translation"):
        bq.check(data=pl.DataFrame({"source": ["a"], "score": [1.0]}))


def test_a_lone_target_text_is_what_is_checked() -> None:
    data = pl.DataFrame({"source": ["I owe 25 euros."], "reference": ["Dlužím 52 eur."], "language_pair": ["en-cs"]})
    run = bq.check(data=data)
    assert rate(run, "number", None)["value"] == 100
    assert any("references" in note for note in run.info.notes)


def test_a_gate_stops_at_a_kind_or_above_a_rate() -> None:
    run = bq.check(data=pl.DataFrame(ROWS))
    require(run, ["loop", "number>40", "any > 100"])
    with pytest.raises(GateError, match=r"number.*careless"):
        require(run, ["number"])
    with pytest.raises(GateError, match="1 of 3"):
        require(run, ["number>5%"])
    with pytest.raises(UserError, match="nonsense"):
        require(run, ["nonsense"])
    with pytest.raises(UserError, match="number>x"):
        require(run, ["number>x"])


RULES = """
rules:
  - name: polite
    ids: ["*:1"]
    required_any: [vám, Vám]
  - name: no-digits
    banned_pattern: '\\d{2}'
    language: cs
  - name: short
    max_length: 20
    max_ratio: 3
terms:
  - source: sharks
    target: [žraloci, žraloků]
  - source: morning
    target: dopoledne
"""


def test_rules_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES, "utf-8")
    run = bq.check(data=pl.DataFrame(ROWS), kinds=[], rules=tmp_path / "rules.yaml")
    found = run.table("failures").select("row", "kind", "evidence").rows()
    assert (0, "rule:no-digits", "has 25") in found
    assert (1, "rule:term", "morning → dopoledne") in found
    assert not any(kind == "rule:term" and row in (2, 5) for row, kind, _ in found)
    assert (2, "rule:short", "30 characters where 20 are allowed") in found
    assert "your rule" in " ".join(run.verdict) and "rule:" not in " ".join(run.verdict)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [{name: a, baned: x}]", "baned"),
        ("rules: [{name: a, max_length: many}]", r"rules\[0\].max_length"),
        ("rules: [{name: a, banned_pattern: '('}]", "regular expression"),
        ("terms: [{source: a}]", "target"),
        ("rules: [", "YAML"),
        ("{}", "no rules"),
        ("- banned: x", "under rules:"),
    ],
)
def test_mistakes_in_rules_are_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rules.yaml").write_text(text, "utf-8")
    with pytest.raises(UserError, match=said):
        read_rules(tmp_path / "rules.yaml")
    with pytest.raises(UserError, match=r"none\.yaml"):
        read_rules(tmp_path / "none.yaml")


@pytest.mark.slow
def test_an_expression_that_never_ends_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules: [{name: slow, banned_pattern: '(a|aa)+$'}]", "utf-8")
    data = pl.DataFrame({"source": ["a"], "translation": ["a" * 60 + "b"], "language_pair": ["en-cs"]})
    with pytest.raises(UserError, match="slow"):
        bq.check(data=data, kinds=[], rules=tmp_path / "rules.yaml")


@pytest.mark.slow
def test_wmt_outputs_are_data(shared_data: Path, tmp_path: Path) -> None:
    """Claude-3.5 answers most questions that tell it not to translate; ONLINE-W translates them (WMT24, pia)."""
    import tarfile

    with tarfile.open(shared_data / "wmt24" / "wmt24-en-cs.tar.xz") as archive:
        wanted = ("sources/", "documents/", "references/", "metadata/")
        systems = ("Claude-3.5.txt", "ONLINE-W.txt")
        members = [item for item in archive if any(part in item.name for part in wanted) or item.name.endswith(systems)]
        archive.extractall(tmp_path, members, filter="data")
    data = bq.read(f"{tmp_path / 'txt-ts'}:en-cs/pia")
    first = data.segments.filter(pl.col("perturbation") == "pia-instruction")
    run = bq.check(data=first, kinds=["answer", "source-language"])
    injected = run.measures.filter(perturbation="pia-instruction", scorer="answer")
    rates = dict(injected.drop_nulls("system").select("system", "value").iter_rows())
    assert rates["Claude-3.5"] > 60 and rates["ONLINE-W"] < 1


def test_two_runs_are_compared_in_pairs_by_kind_of_failure() -> None:
    """A build that loses placeholders is worse, and nothing is said of kinds that occur in neither run."""
    sources = [f"Hello {{name}}, you have {number} new messages today." for number in range(10, 70)]
    good = [f"Ahoj {{name}}, máš dnes {number} nových zpráv." for number in range(10, 70)]
    frames = {
        build: pl.DataFrame({"source": sources, "translation": texts, "system": build, "language_pair": "en-cs"})
        for build, texts in {"old": good, "new": [text.replace("{name}", "") for text in good]}.items()
    }
    old, new = (bq.check(data=frame, encoder="none") for frame in frames.values())
    found = {change.scorer: change for change in bq.compare(old, new)}
    assert found.keys() == {"any", "placeholder"}
    assert found["placeholder"].outcome == "worse" and found["placeholder"].paired
    assert (found["placeholder"].old, found["placeholder"].new) == (0, 100)
    assert bq.compare(old, new).failures
    assert {change.outcome for change in bq.compare(new, old)} == {"better"}

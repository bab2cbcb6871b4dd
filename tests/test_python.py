"""Python as a researcher in a notebook would have it: own functions, tables of any library, runs that answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import babelquake as bq

TEXTS = ["Das Haus ist alt.", "Der Zug kommt heute nicht."]
PAIRS = pl.DataFrame({"source": TEXTS * 15, "reference": ["The house is old.", "The train does not come today."] * 15})


def shout(text: str) -> str:
    return text.upper()


def copy(texts: list[str]) -> list[str]:
    return list(texts)


def length(translations: list[str], references: list[str]) -> list[float]:
    return [float(min(len(one), len(other))) for one, other in zip(translations, references, strict=True)]


class Lower:
    def translate(self, texts: list[str]) -> list[str]:
        return [text.lower() for text in texts]


@pytest.fixture(scope="module")
def run() -> bq.Run:
    return bq.mt(
        data=PAIRS,
        systems=[Lower(), copy],
        suite=[shout, "final-delete", lambda one: one + "!"],
        scorers=["chrf", length],
        language_pair="de-en",
        resamples=200,
        quiet=True,
    )


def test_functions_lambdas_and_objects_are_perturbations_systems_and_scorers(run: bq.Run) -> None:
    labels = run.measures["perturbation"].drop_nulls().unique().to_list()
    assert {"shout", "final-delete"} <= set(labels) and any(label.startswith("lambda-") for label in labels)
    assert {name.rpartition(":")[2] for name in run.measures["system"].drop_nulls()} == {"Lower", "copy"}
    assert any(name.endswith("length") for name in run.measures["scorer"].drop_nulls().unique())
    shouted = run.variants.filter(pl.col("perturbation") == "shout")["text"]
    assert shouted[0] == TEXTS[0].upper()


class Titles(bq.System):
    signature = "titles"

    def translate(self, texts: Sequence[str]) -> list[str]:
        return [text.title() for text in texts]


class Shortest(bq.MeanScorer):
    needs = frozenset({"reference"})
    signature = "shortest"

    def judge(self, questions: bq.Questions) -> Any:
        return [float(len(translation)) for translation in questions.translations]


def test_the_base_classes_can_be_subclassed() -> None:
    made = bq.mt(data=PAIRS, systems=Titles(), suite=[shout, str.upper], scorers=Shortest(), resamples=200, quiet=True)
    assert set(made.measures["system"].drop_nulls()) == {"Titles"}
    assert set(made.scores["scorer"]) == {"Shortest"}


def test_perturb_takes_functions_and_series() -> None:
    assert bq.perturb(shout, pl.Series(TEXTS)) == [text.upper() for text in TEXTS]
    assert bq.perturb(lambda one: None if "Zug" in one else one[::-1], TEXTS) == [TEXTS[0][::-1], None]
    assert bq.perturb(str.upper, TEXTS) == bq.perturb(bq.Perturbation("case[level=1,to=upper]"), TEXTS)
    with pytest.raises(bq.UserError, match="shorten failed: ValueError"):
        bq.perturb(shorten, TEXTS)


def shorten(text: str) -> str:
    raise ValueError("no")


def test_what_is_not_a_perturbation_is_refused_in_words() -> None:
    with pytest.raises(bq.UserError, match="not a perturbation"):
        bq.suite([3])  # type: ignore[list-item]
    with pytest.raises(bq.UserError, match="level needs a default"):
        bq.perturb(lambda text, level: text, TEXTS)


class ArrowColumn(list[str]):
    """What pyarrow's arrays offer: their items are no strings."""

    def __iter__(self) -> Any:
        return iter([object()] * len(self))

    def to_pylist(self) -> list[str]:
        return TEXTS


def test_columns_of_other_libraries_are_texts_and_tables_are_not() -> None:
    column = ArrowColumn(TEXTS)
    assert bq.perturb(shout, column) == [text.upper() for text in TEXTS]
    assert bq.system(copy).translate(pl.Series(TEXTS)) == bq.system(copy).translate(column) == TEXTS
    assert bq.system(str.lower).translate(column) == [text.lower() for text in TEXTS]
    assert len(bq.scorer("chrf").segments(column, column)) == 2
    for table in (PAIRS, {"source": TEXTS}, ArrowTable()):
        with pytest.raises(bq.UserError, match="table"):
            bq.perturb(shout, table)  # type: ignore[arg-type]


class ArrowTable:
    """What pyarrow's tables offer."""

    column_names = ("source", "reference")

    def to_pydict(self) -> dict[str, list[str]]:
        return PAIRS.to_dict(as_series=False)


class HubDataset:
    """What a translation set of Hugging Face `datasets` offers."""

    column_names = ("translation",)

    def to_dict(self) -> dict[str, list[Any]]:
        return {"translation": [{"de": a, "en": b} for a, b in PAIRS.iter_rows()]}


class HubSplits(dict[str, HubDataset]):
    """Several of them by name, as `datasets.DatasetDict` offers."""

    @property
    def column_names(self) -> dict[str, tuple[str, ...]]:
        return {name: split.column_names for name, split in self.items()}


@pytest.mark.parametrize(
    "given",
    [PAIRS, PAIRS.lazy(), ArrowTable(), HubDataset(), PAIRS.to_dict(as_series=False), PAIRS.rows(), PAIRS.to_dicts()],
    ids=["polars", "lazy", "pyarrow", "datasets", "columns", "pairs", "rows"],
)
def test_tables_of_every_library_are_data(given: Any) -> None:
    found = bq.dataset(given, language_pair="de-en")
    assert len(found) == 30 and found.has("references") and found.language_pairs == ["de-en"]
    assert found.segments["source"].to_list() == PAIRS["source"].to_list()


def test_series_and_lists_of_sentences_are_sources() -> None:
    for given in (TEXTS, pl.Series(TEXTS), tuple(TEXTS)):
        found = bq.dataset(given)
        assert found.segments["source"].to_list() == TEXTS and not found.has("references")


def test_pandas_is_welcome_where_it_is_installed() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PAIRS.to_dict(as_series=False))
    assert len(bq.dataset(frame)) == 30
    assert bq.perturb(shout, frame["source"])[0] == TEXTS[0].upper()


def test_several_splits_and_the_other_direction_are_understood() -> None:
    with pytest.raises(bq.UserError, match="train, test"):
        bq.dataset(HubSplits(train=HubDataset(), test=HubDataset()))
    assert len(bq.dataset(HubSplits(test=HubDataset()))) == 30
    assert bq.dataset(HubDataset(), language_pair="en-de").segments["source"][0] == PAIRS["reference"][0]
    assert bq.dataset(HubDataset()).language_pairs == ["de-en"]


def test_a_run_answers(run: bq.Run, tmp_path: Path) -> None:
    table = run.pivot("quality_perturbed")
    assert {"scorer", "perturbation"} <= set(table.columns) and table.height >= 4
    assert run.verdict and all(isinstance(sentence, str) for sentence in run.verdict)
    assert run.plot().to_dict()["title"]
    worst = run.examples(worst=3)
    assert worst.height == 3 and worst["drop"].to_list() == sorted(worst["drop"], reverse=True)
    assert r"\begin{tabular}" in run.to_latex()
    assert run.report(tmp_path / "r.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(bq.UserError, match="robust"):
        run.pivot("robustt")
    with pytest.raises(bq.UserError, match=r"Did you mean|Available"):
        run.plot("no such chart")


def test_a_run_shows_what_is_for_users(run: bq.Run) -> None:
    shown = {name for name in dir(run) if not name.startswith("_")}
    assert {"verdict", "pivot", "plot", "examples", "report", "measures"} <= shown
    assert not {"mend", "drop_damaged", "discard_parts", "same_signatures", "once"} & shown


def test_errors_name_arguments(tmp_path: Path) -> None:
    with pytest.raises(bq.UserError) as none:
        bq.mt(data=TEXTS)
    assert "systems" in str(none.value) and "--" not in str(none.value)
    with pytest.raises(bq.UserError) as two:
        bq.attack(data=PAIRS, recipes="deepwordbug", goal="collapse")
    assert "systems" in str(two.value) and "--" not in str(two.value)
    rated = PAIRS.with_columns(translation=pl.lit("A house."))
    with pytest.raises(bq.UserError, match="victims=…"):
        bq.attack(data=rated, recipes="deepwordbug")


def test_the_front_door_leads_to_what_it_names() -> None:
    for name in bq.__all__:
        assert getattr(bq, name) is not None
    assert issubclass(bq.MeanScorer, bq.Scorer) and bq.plan.mt is not None


def test_documentation_in_python_has_no_flags() -> None:
    for name in bq.plan.__all__:
        said = getattr(bq, name).__doc__
        assert "data:" in said and "--" not in said and "repeat for" not in said


def test_a_run_can_be_held_to_limits(run: bq.Run) -> None:
    bq.require(run, "robust[chrf] <= 1000")
    with pytest.raises(bq.GateError, match="robust"):
        bq.require(run, ["robust[chrf] <= 1000", "robust[chrf] >= 1000"])


def test_a_run_can_be_repeated(run: bq.Run, tmp_path: Path) -> None:
    with pytest.raises(bq.UserError, match="data="):
        bq.rerun(run)
    given = {"data": PAIRS, "systems": [Lower(), copy], "scorers": ["chrf", length]}
    suite = bq.suite([shout, "final-delete"])
    first = bq.mt(**given, suite=suite, resamples=200, language_pair="de-en", quiet=True, out=tmp_path / "run")
    assert bq.rerun(first, **given, suite=suite).same
    assert not bq.rerun(first, **given, suite=suite, seed=1, limit=20).same


def test_ratings_of_one_language_pair(tmp_path: Path) -> None:
    rows = [
        f"{pair}\t{who}\t{system}\t{n}\t{50 + n}"
        for pair in ("de-en", "fr-en")
        for who in "ab"
        for system in "xy"
        for n in range(4)
    ]
    (tmp_path / "r.tsv").write_text("\n".join(["language_pair\tannotator\tsystem\tsegment\tscore", *rows]) + "\n")
    one = bq.human(data=tmp_path / "r.tsv", language_pair="de-en", quiet=True)
    assert set(one.measures["language_pair"].drop_nulls()) == {"de-en"}
    with pytest.raises(bq.UserError, match="de-en, fr-en"):
        bq.human(data=tmp_path / "r.tsv", language_pair="cs-en", quiet=True)

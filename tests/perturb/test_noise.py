"""Noise for training: a share of the texts, the same for a seed, whatever the order; all else stays as it was."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import babelquake as bq
from babelquake.cli.app import app
from babelquake.errors import UserError
from babelquake.perturb.noise import STEPS, Noise, augment_file
from babelquake.perturb.suite import suite

TEXTS = [f"Der {number}. Satz handelt von schönen Häusern, nicht von Bäumen." for number in range(400)]


def noise(**options: object) -> Noise:
    settings: dict[str, object] = {"share": 0.3, "lang": "de", "seed": 5} | options
    return Noise(suite("everyday"), **settings)  # type: ignore[arg-type]


def test_about_the_asked_share_is_changed() -> None:
    changed = [made for place, text in enumerate(TEXTS) if (made := noise().of(text, place)).perturbation]
    assert 0.22 < len(changed) / len(TEXTS) < 0.38
    assert len({made.perturbation.name for made in changed if made.perturbation}) > 6


@given(st.text(max_size=60), st.integers(0, 99))
def test_what_is_called_changed_differs_and_what_is_not_does_not(text: str, place: int) -> None:
    made = noise(share=0.5).of(text, place)
    assert (made.text != text) == (made.perturbation is not None)


def test_order_changes_nothing_and_the_seed_does() -> None:
    forwards = {place: noise().of(text, place).text for place, text in enumerate(TEXTS[:60])}
    backwards = {place: noise().of(TEXTS[place], place).text for place in reversed(range(60))}
    assert forwards == backwards
    assert forwards != {place: noise(seed=6).of(text, place).text for place, text in enumerate(TEXTS[:60])}


def test_the_same_text_in_another_place_draws_anew() -> None:
    assert len({noise(share=1).of(TEXTS[0], place).text for place in range(30)}) > 10


def test_no_share_no_change_and_all_of_it_where_something_applies() -> None:
    assert all(noise(share=0).of(text, place).perturbation is None for place, text in enumerate(TEXTS[:50]))
    assert all(noise(share=1).of(text, place).perturbation for place, text in enumerate(TEXTS[:50]))


def test_levels_are_drawn_from_the_range_and_stay_within_what_a_perturbation_allows() -> None:
    ways = {way[0].name: [each.level for each in way] for way in noise(weakest=0.5, strongest=20.0).ways}
    assert len(ways["misspell"]) <= STEPS
    assert ways["misspell"][0] == pytest.approx(0.05)
    assert max(level for levels in ways.values() for level in levels if level is not None) <= 1


@pytest.mark.parametrize("wrong", [{"share": 1.2}, {"share": -0.1}, {"weakest": 2.0}, {"weakest": 0.0}])
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError):
        noise(**wrong)


def test_noise_that_needs_a_language_model_is_refused() -> None:
    with pytest.raises(UserError, match="language model"):
        Noise(suite("mask-replace[model=x]"), lang="en")


GERMAN = [f"Satz {number} handelt von schönen Häusern, nicht von Bäumen." for number in range(100)]
ENGLISH = [f"Sentence {number} is about fine houses." for number in range(100)]


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def headless(tmp_path: Path) -> Path:
    path = tmp_path / "train.de-en.tsv"
    path.write_text("".join(f"{de}\t{en}\n" for de, en in zip(GERMAN, ENGLISH, strict=True)), "utf-8")
    return path


def test_lines_stay_in_order_and_only_sources_change(headless: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.tsv"
    done = augment_file(headless, out, share=0.4, seed=3)
    assert [row[1] for row in rows(out)] == ENGLISH
    different = sum(row[0] != old for row, old in zip(rows(out), GERMAN, strict=True))
    assert different == done.changed.total()
    assert 25 < different < 55
    assert done.texts == 100


def test_added_lines_follow_their_clean_ones(headless: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.tsv"
    done = augment_file(headless, out, share=0.4, add=True, seed=3)
    assert len(rows(out)) == 100 + done.changed.total()
    assert [row[0] for row in rows(out) if row[0] in set(GERMAN)] == GERMAN


def test_python_and_files_and_compressed_files_draw_the_same(headless: Path, tmp_path: Path) -> None:
    augment_file(headless, tmp_path / "noisy.tsv", seed=3)
    packed = tmp_path / "train.de-en.tsv.gz"
    packed.write_bytes(gzip.compress(headless.read_bytes()))
    augment_file(packed, tmp_path / "packed.tsv.xz", seed=3)
    augment_file(tmp_path / "packed.tsv.xz", tmp_path / "again.tsv", share=0, lang="de")
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "noisy.tsv").read_bytes()
    in_python = [text.replace("\t", " ") for text in bq.augment(GERMAN, lang="de", seed=3)]
    assert in_python == [row[0] for row in rows(tmp_path / "noisy.tsv")]


def test_a_header_and_further_columns_stay(tmp_path: Path) -> None:
    table = tmp_path / "d.tsv"
    table.write_text("id\tref\tsrc\n" + "".join(f"{n}\t{ENGLISH[n]}\t{GERMAN[n]}\n" for n in range(50)), "utf-8")
    augment_file(table, tmp_path / "noisy.tsv", share=1, language_pair="de-en")
    made = rows(tmp_path / "noisy.tsv")
    assert made[0] == ["id", "ref", "src"]
    assert [row[:2] for row in made[1:]] == [[str(n), ENGLISH[n]] for n in range(50)]
    assert all(row[2] != GERMAN[n] for n, row in enumerate(made[1:]))


def test_json_lines_keep_fields_and_the_reference_can_be_changed(tmp_path: Path) -> None:
    data = tmp_path / "d.jsonl"
    items = [{"source": GERMAN[n], "reference": ENGLISH[n], "domain": ["x", n]} for n in range(30)]
    data.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    augment_file(data, tmp_path / "n.jsonl", share=1, side="reference", language_pair="de-en")
    made = [json.loads(line) for line in (tmp_path / "n.jsonl").read_text("utf-8").splitlines()]
    assert [item["source"] for item in made] == GERMAN[:30]
    assert [item["domain"] for item in made] == [item["domain"] for item in items]
    assert all(item["reference"] != ENGLISH[n] for n, item in enumerate(made))


def test_other_formats_are_taken_whole(headless: Path, tmp_path: Path) -> None:
    done = augment_file(headless, tmp_path / "noisy.parquet", share=1)
    made = bq.read(tmp_path / "noisy.parquet").segments
    assert made.height == done.texts == 100
    assert not set(made["source"]) & set(GERMAN)
    assert [references[0] for references in made["references"]] == ENGLISH


def test_tabs_that_noise_brings_become_blanks_in_a_table_of_tabs(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"source": "Wort " * 60, "reference": "words"}) + "\n")
    done = augment_file(tmp_path / "d.jsonl", tmp_path / "d.tsv", "whitespace[level=1]", share=1, strength=(1, 1))
    made = bq.read(tmp_path / "d.tsv").segments
    assert done.changed and made.height == 1 and "\t" not in made["source"][0]


@pytest.mark.parametrize(
    ("content", "options", "fact"),
    [
        ("a\tb\nc\n", {}, "line 2"),
        ("source\treference\na\tb\n", {"side": "translation"}, "translation"),
        ("a\tb\n", {"side": "middle"}, "source"),
        ("a\tb\n", {"columns": {"source": "7"}}, "source"),
    ],
)
def test_what_does_not_fit_is_named_and_leaves_no_file(
    tmp_path: Path, content: str, options: dict[str, object], fact: str
) -> None:
    data, out = tmp_path / "d.de-en.tsv", tmp_path / "n.tsv"
    data.write_text(content, "utf-8")
    with pytest.raises(UserError, match=fact):
        augment_file(data, out, **options)  # type: ignore[arg-type]
    assert not out.exists()


def test_the_data_themselves_are_never_written_over(headless: Path) -> None:
    with pytest.raises(UserError, match="another name"):
        augment_file(headless, headless)


def test_the_command_counts_what_it_changed(headless: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.tsv"
    ended = CliRunner().invoke(app, ["augment", "--data", str(headless), "--share", "0.5", "--out", str(out)])
    assert ended.exit_code == 0
    assert "of 100 texts changed" in ended.stdout
    wrong = CliRunner().invoke(app, ["augment", "-d", str(headless), "--strength", "strong", "--out", str(out)])
    assert wrong.exit_code == 2


def test_noise_that_needs_the_language_is_named_where_it_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("".join(f"{text}\n" for text in GERMAN), "utf-8")
    assert any("natural-typo" in note for note in augment_file(tmp_path / "d.txt", tmp_path / "n.txt").notes)
    assert augment_file(tmp_path / "d.txt", tmp_path / "m.txt", lang="de").notes == []


def test_a_file_that_stays_as_it_was_is_remarked_on(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("\n\n\n", "utf-8")
    assert any(
        "no text was changed" in note for note in augment_file(tmp_path / "d.txt", tmp_path / "n.txt", lang="de").notes
    )

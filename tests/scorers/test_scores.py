"""Scores computed elsewhere."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from babelquake.data import read, segment_scores
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import Questions, scorer

TABLE = (
    "source\ttranslation\treference\tscore\tcomet\n"
    "Ja.\tYes.\tYes.\t90\t0.9\n"
    "Nein.\tNo.\tNo.\t80\t0.8\n"
    'Er sagt "Ja.\tYes.\tHe says "yes.\t20\tNone\n'
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "judged.tsv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A metrics-task folder: two language pairs, systems A and B, a metric that misses one judgement."""
    root = tmp_path / "task"
    for pair, texts in {"de-en": ("Ja.", "Nein.", "Ja."), "fr-en": ("Oui.", "Non.")}.items():
        for part in ("sources", "references", f"system-outputs/{pair}", f"metric-scores/{pair}"):
            (root / part).mkdir(parents=True, exist_ok=True)
        (root / "sources" / f"{pair}.txt").write_text("".join(f"{text}\n" for text in texts))
        (root / "references" / f"{pair}.ref-A.txt").write_text("".join(f"{text} R\n" for text in texts))
        for system in "AB":
            lines = "".join(f"{text} {system}\n" for text in texts)
            (root / "system-outputs" / pair / f"{system}.txt").write_text(lines)
        scores = [f"{system}\t{place + 10 * 'AB'.index(system)}" for system in "BA" for place in range(len(texts))]
        scores[1] = "B\tNone"
        (root / "metric-scores" / pair / "Magic-ref-A.seg.score").write_text("\n".join([*scores, ""]))
    return root


def test_scores_are_found_by_all_texts_that_are_given(table: Path) -> None:
    made = scorer("scores", file=table)
    sources, translations = ["Nein.", 'Er sagt "Ja.', "Ja."], ["No.", "Yes.", "Yes."]
    assert made.segments(translations, sources=sources).tolist() == [80, 20, 90]
    assert made.segments(["Yes."], ['He says "yes.']).tolist() == [20]
    assert made.corpus(translations, sources=sources) == pytest.approx(190 / 3)


def test_what_cannot_be_told_apart_has_the_mean(table: Path) -> None:
    assert scorer("scores", file=table).segments(["Yes.", "No."]).tolist() == [55, 80]


def test_unknown_texts_are_nan_and_can_be_named(table: Path) -> None:
    made = scorer("scores", file=table)
    batch = Questions(["Yes.", "Perhaps.", "Yes!", "No."], sources=["Ja.", "Ja.", "Ja.", "Ja."])
    assert made.missing(batch) == [1, 2, 3]
    assert np.isnan(made.statistics(batch)[1:, 0]).all()
    assert made.statistics(batch)[:, 1].tolist() == [1, 1, 1, 1]
    assert Engine(quiet=True).judge(made, batch)[0].tolist() == [90, 1]


def test_a_score_holds_for_its_own_reference_only(table: Path) -> None:
    batch = Questions(["Yes.", "Yes."], [["Yes."], ["Yas."]], ["Ja.", "Ja."])
    assert scorer("scores", file=table).missing(batch) == [1]


def test_another_column_of_the_file(table: Path) -> None:
    made = scorer("scores", file=table, column="comet")
    batch = Questions(["No.", "Yes."], sources=["Nein.", 'Er sagt "Ja.'])
    assert made.judge(batch)[0] == 0.8
    assert made.missing(batch) == [1], "None means not judged"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_every_table_format_says_the_same(table: Path, tmp_path: Path, ending: str) -> None:
    rows = [line.split("\t") for line in TABLE.splitlines()]
    frame = pl.DataFrame(rows[1:], schema=rows[0], orient="row").with_columns(pl.col("score").cast(pl.Float64))
    path = tmp_path / f"judged.{ending}"
    if ending == "csv":
        frame.write_csv(path)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()), encoding="utf-8")
    else:
        frame.write_parquet(path)
    found = scorer("scores", file=path).segments(["No.", "Yes."], sources=["Nein.", 'Er sagt "Ja.'])
    assert found.tolist() == [80, 20]


def test_the_signature_follows_the_content_not_the_place(table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.tsv"
    copy.write_text(TABLE, encoding="utf-8")
    changed = tmp_path / "changed.tsv"
    changed.write_text(TABLE.replace("90", "91"), encoding="utf-8")
    signatures = [scorer("scores", file=path).signature for path in (table, copy, changed)]
    assert signatures[0] == signatures[1] != signatures[2]
    assert str(tmp_path) not in signatures[0]


def test_names_show_no_folders(table: Path) -> None:
    assert scorer("scores", file=table).name == "scores[file=judged.tsv]"
    assert scorer("scores", file=table, column="comet").name == "scores[column=comet,file=judged.tsv]"
    assert scorer("scores", file=table, name="COMET").name == "COMET"
    assert scorer("scores[column=model_scores]").name == "scores[column=model_scores]"


def test_lower_can_be_better(table: Path) -> None:
    assert scorer("scores", file=table).higher_is_better
    assert not scorer("scores", file=table, higher=False).higher_is_better


def test_segment_scores_are_matched_by_system_and_order(folder: Path) -> None:
    data = read(folder / "de-en").segments
    made = scorer("scores", file=folder / "metric-scores" / "de-en" / "Magic-ref-A.seg.score")
    made.attach(data)
    assert made.segments(["Nein. A", "Nein. B"], sources=["Nein.", "Nein."]).tolist()[0] == 1
    assert made.missing(Questions(["Nein. A", "Nein. B"], sources=["Nein.", "Nein."])) == [1]
    assert made.segments(["Ja. B"], sources=["Ja."]).tolist() == [11], "two segments have these texts: 10 and 12"


def test_a_perturbed_reference_has_no_segment_score(folder: Path) -> None:
    made = scorer("scores", file=folder / "metric-scores" / "de-en" / "Magic-ref-A.seg.score")
    made.attach(read(folder / "de-en").segments)
    assert made.missing(Questions(["Nein. A"] * 2, [["Nein. R"], ["N3in. R"]], ["Nein."] * 2)) == [1]


def test_one_file_per_language_pair(folder: Path) -> None:
    made = scorer("scores", file=folder / "metric-scores" / "*" / "Magic-ref-A.seg.score")
    made.attach(read(folder).segments)
    assert made.name == "scores[file=Magic-ref-A.seg.score]"
    assert made.segments(["Nein. A", "Oui. B"], sources=["Nein.", "Oui."]).tolist() == [1, 10]
    single = scorer("scores", file=folder / "metric-scores" / "fr-en" / "Magic-ref-A.seg.score")
    single.attach(read(folder).segments)
    assert single.missing(Questions(["Nein. A", "Oui. B"], sources=["Nein.", "Oui."])) == [0]


def test_segment_scores_of_a_single_unnamed_system(tmp_path: Path) -> None:
    (tmp_path / "m.seg.score").write_text("whoever\t1\nwhoever\t2\n")
    (tmp_path / "d.tsv").write_text("source\ttranslation\na\tA\nb\tB\n")
    made = scorer("scores", file=tmp_path / "m.seg.score")
    made.attach(read(tmp_path / "d.tsv").segments)
    assert made.segments(["B", "A"], sources=["b", "a"]).tolist() == [2, 1]


def test_a_column_of_the_data(table: Path) -> None:
    made = scorer("scores[column=comet]")
    unattached = made.signature
    made.attach(read(table).segments.with_columns(comet=pl.Series([0.9, 0.8, None])))
    assert made.segments(["No.", "Yes."], sources=["Nein.", "Ja."]).tolist() == [0.8, 0.9]
    assert made.missing(Questions(["Yes."], sources=['Er sagt "Ja.'])) == [0]
    assert made.signature != unattached


def test_wrong_requests_are_explained(table: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "no.tsv").write_text("source\treference\tscore\na\tb\t1\n")
    (tmp_path / "bad.tsv").write_text("translation\tscore\na\tgood\n")
    magic = folder / "metric-scores" / "fr-en" / "Magic-ref-A.seg.score"
    segments = read(folder / "de-en").segments
    with pytest.raises(UserError, match="file or a column"):
        scorer("scores")
    with pytest.raises(UserError, match="judged"):
        scorer("scores", file=tmp_path / "juged.tsv")
    with pytest.raises(UserError, match="no file has such a name"):
        scorer("scores", file=tmp_path / "*.score")
    with pytest.raises(UserError, match="no column translation"):
        scorer("scores", file=tmp_path / "no.tsv").segments(["a"])
    with pytest.raises(UserError, match="line 2"):
        scorer("scores", file=tmp_path / "bad.tsv").segments(["a"])
    with pytest.raises(UserError, match=r"no column 'komet'.*comet"):
        scorer("scores", file=table, column="komet").segments(["a"])
    with pytest.raises(UserError, match="row 1 of the data set: system"):
        scorer("scores[column=system]").attach(segments)
    with pytest.raises(UserError, match="attach"):
        scorer("scores", file=magic).segments(["a"])
    with pytest.raises(UserError, match="is of fr-en; the data have de-en"):
        scorer("scores", file=magic).attach(segments)
    with pytest.raises(UserError, match="2 scores for B where the data have 3 segments of de-en"):
        scorer("scores", file=magic, language_pair="de-en").attach(segments)


def test_published_metric_scores_land_on_their_rows(shared_data: Path) -> None:
    root = shared_data / "wmt21.flores"
    data = read(root).segments
    made = scorer("scores", file=root / "metric-scores" / "*" / "BERTScore-ref-A.seg.score")
    made.attach(data)
    found = made.segments(data["translation"].to_list(), data["references"].to_list(), data["source"].to_list())
    expected = [
        score
        for pair in sorted((root / "metric-scores").iterdir())
        for system, scores in sorted(segment_scores(pair / "BERTScore-ref-A.seg.score").items())
        for score in scores
        if not system.startswith("ref")
    ]
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, atol=1e-6)  # equal texts differ in the 7th digit


COMET = {
    "out.en": [
        {"src": "Ja.", "mt": "Yes.", "ref": "Yes.", "COMET": 0.9},
        {"src": "Nein.", "mt": "No.", "ref": "No.", "COMET": 0.8, "errors": []},
    ]
}


def test_scores_as_comet_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "comet.json"
    path.write_text(json.dumps(COMET, indent=4))
    made = scorer("scores", file=path)
    assert made.segments(["No.", "Yes. "], ["No.", "Yes. "], ["Nein.", "Ja."]).tolist() == [0.8, 0.9]
    assert made.missing(Questions(["No.", "Nope."], sources=["Ja.", "Nein."])) == [0, 1]
    with pytest.raises(UserError, match="no score called 'COMMET'"):
        scorer("scores", file=path, column="COMMET").segments(["No."])


def test_one_score_a_line_belongs_to_the_rows_of_the_data(tmp_path: Path, table: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("0.5\n\n-1e-3\n")
    made = scorer("scores", file=path)
    attached = made.attach(read(table).segments)
    assert attached is not None
    assert attached[[0, 2]].tolist() == [0.5, -0.001]
    assert np.isnan(attached[1])
    path.write_text("0.5\n1\n")
    with pytest.raises(UserError, match=r"2 scores where the data have 3 rows"):
        scorer("scores", file=path).attach(read(table).segments)
    path.write_text("0.5\nhigh\n1\n")
    with pytest.raises(UserError, match=r"line 2: the score is 'high'"):
        scorer("scores", file=path).attach(read(table).segments)


def test_one_score_a_line_beside_its_texts(tmp_path: Path, table: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("1\n2\n3\n")
    made = scorer("scores", file=path, texts=table, name="mine")
    assert made.segments(["No.", "Yes."], sources=["Nein.", 'Er sagt "Ja.']).tolist() == [2, 3]
    assert made.name == "mine"


@pytest.mark.parametrize(
    ("name", "better"),
    [("ter", False), ("MetricX-24", False), ("perplexity", False), ("comet", True), ("letter", True)],
)
def test_scores_named_after_errors_count_them(tmp_path: Path, name: str, better: bool) -> None:
    path = tmp_path / f"{name}.tsv"
    path.write_text("translation\tscore\nYes.\t20\nNo.\t0\n", encoding="utf-8")
    made = scorer("scores", file=path)
    assert made.higher_is_better is better and f"higher:{str(better).lower()}" in made.signature
    assert bool(made.notes) is not better
    assert scorer("scores", file=path, higher=True).higher_is_better


def test_negated_errors_are_as_others(tmp_path: Path) -> None:
    path = tmp_path / "ter.tsv"
    path.write_text("translation\tscore\nYes.\t-20\nNo.\t0\n", encoding="utf-8")
    assert scorer("scores", file=path).higher_is_better


def test_a_file_of_scores_may_say_which_way_is_better(tmp_path: Path, table: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# lower is better\n3\n2\n1\n", encoding="utf-8")
    made = scorer("scores", file=path, texts=table)
    assert not made.higher_is_better and made.segments(["No."]).tolist() == [2]

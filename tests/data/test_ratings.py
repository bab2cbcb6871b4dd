"""Ratings from the field's formats: WMT's MTurk tables, Appraise's CSV, `.seg.score`."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from babelquake.data.ratings import read_ratings
from babelquake.errors import UserError

MTURK = """HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time
H1\tM1\tlv\ten\tad\t13\tHuawei.0\t1\tSYSTEM\t121\t76\t40.0
H1\tM1\tlv\ten\tad\t13\tHuawei.0\t2\tREPEAT\t121\t80\t40.0
H1\tM1\tlv\ten\tad\t13\tHuawei.0\t3\tBAD_REF\t121\t12\t40.0
H2\tM2\tlv\ten\tad\t14\tTartu.1\t4\tSYSTEM\t84\t55\t9.0
"""
APPRAISE = [
    'u1,wmt.A,3,TGT,eng,deu,70,news#A,False,"[{""start_i"":1,""end_i"":4,""severity"":""minor""}]",1000.0,1010.0',
    "u1,wmt.A,4,TGT,eng,deu,80,news#A,False,[],1010.0,1030.0",
    "u1,wmt.A,4,TGT,eng,deu,85,news#A,False,[],1030.0,1035.0",
    "u1,wmt.A,9,BAD,eng,deu,20,news#A#bad1,False,[],1040.0,1050.0",
    "u1,wmt.A,10,BAD,eng,deu,25,news#A#bad1,False,[],1050.0,1060.0",
    "u1,wmt.A,12,TGT,eng,deu,71,news#A#duplicate1,False,[],1060.0,1070.0",
    "u1,ende-tutorial1,1,TGT,eng,deu,0,ende-tutorial1,False,[],900.0,990.0",
    "u1,wmt.A,4,TGT,eng,deu,75,news#A,True,[],1080.0,1090.0",
]


def test_wmt_mturk_tables_are_read_as_published(tmp_path: Path) -> None:
    file = tmp_path / "ad-lven-good-raw.csv"
    file.write_text(MTURK)
    frame = read_ratings(file).frame
    assert frame["annotator"].to_list() == ["M1", "M1", "M1", "M2"]
    assert frame["hit"].to_list() == ["H1", "H1", "H1", "H2"], "the HIT's id, not its number"
    assert frame["type"].to_list() == ["SYSTEM", "REPEAT", "BAD_REF", "SYSTEM"]
    assert frame["language_pair"].unique().to_list() == ["lv-en"]
    assert frame["segment"].to_list() == ["121", "121", "121", "84"]
    assert frame["raw"].to_list() == [76, 80, 12, 55]
    assert frame["seconds"][0] == pytest.approx(40 / 3), "a HIT's time is shared by its ratings"


def test_standardised_mturk_scores_are_not_taken_for_raw_ones(tmp_path: Path) -> None:
    file = tmp_path / "ad-lven-good-stnd.csv"
    file.write_text(MTURK.replace("\t76\t", "\t-1.25\t").replace("\t80\t", "\t0.5\t").replace("\t12\t", "\t1.5\t"))
    ratings = read_ratings(file)
    assert ratings.frame["z"][0] == -1.25
    assert ratings.frame["raw"].null_count() == 4
    assert "standardised" in ratings.notes[0]


def test_published_segment_means_stand_for_ratings(tmp_path: Path) -> None:
    file = tmp_path / "ad-seg-scores-lv-en.csv"
    file.write_text("SYS SID RAW.SCR Z.SCR N \nHuawei.0 121 76.5 0.07 18 \nTartu.1 84 50 -0.2 2 \n")
    means = read_ratings(file).means
    assert means is not None
    assert means.rows() == [("Huawei.0", "121", 76.5, 0.07, 18), ("Tartu.1", "84", 50.0, -0.2, 2)]


def test_segment_scores_are_numbered_within_a_system(tmp_path: Path) -> None:
    file = tmp_path / "en-de.ESA.seg.score"
    file.write_text("A\tNone\nA\t80\nB\t70\nB\tNone\n")
    means = read_ratings(file).means
    assert means is not None
    assert means.select("system", "segment", "raw").rows() == [("A", "2", 80.0), ("B", "1", 70.0)]


def test_what_fills_up_a_task_of_wmt24_is_nobodys_translation(tmp_path: Path) -> None:
    file = tmp_path / "wave.csv"
    names = ("news", "news#dup#dup", "news#incomplete")
    file.write_text("".join(f"\nu1,A,{n},TGT,eng,jpn,90,{name},False,[],{n}.0,{n}.5" for n, name in enumerate(names)))
    frame = read_ratings(file).frame
    assert frame["type"].to_list() == ["SYSTEM", "DUPLICATE", "DUPLICATE"]
    assert frame["system"].unique().to_list() == ["A"]


def test_appraise_tutorials_copies_and_repeated_answers(tmp_path: Path) -> None:
    file = tmp_path / "campaign.scores.csv"
    file.write_text("\n".join(APPRAISE) + "\n")
    ratings = read_ratings(file)
    frame = ratings.frame
    assert frame["type"].to_list() == ["SYSTEM", "SYSTEM", "BAD_REF", "BAD_REF", "DUPLICATE", "TUTORIAL"]
    assert frame["raw"].to_list() == [70, 85, 20, 25, 71, 0], "of two answers the later one"
    assert frame["segment"].to_list()[:4] == ["news:1", "news:2", "news:1", "news:2"], "a copy is of the same segments"
    assert frame["system"].unique().sort().to_list() == ["A", "ende-tutorial1"]
    assert frame["language_pair"].unique().to_list() == ["en-de"]
    assert '"severity":"minor"' in frame["spans"][0]
    assert any("given again" in note for note in ratings.notes)
    assert any("whole documents" in note for note in ratings.notes)


def test_a_document_split_over_two_tasks_goes_on_where_it_stopped(tmp_path: Path) -> None:
    rows = [f"u1,A,{item},TGT,en,de,50,news#A,False,1.0,2.0" for item in (7, 8, 9)]
    rows += ["u2,B,1,TGT,en,de,50,news#B,False,1.0,2.0"]
    rows += [f"u3,B,{item},TGT,en,de,50,news#B,False,1.0,2.0" for item in (5, 6)]
    rows += [f"u4,C,{item},TGT,en,de,50,news#C,False,1.0,2.0" for item in (1, 2, 3)]
    rows += [f"u5,C,{item},TGT,en,de,50,news#C,False,1.0,2.0" for item in (1, 2, 3)]
    file = tmp_path / "doc.csv"
    file.write_text(
        "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n" + "\n".join(rows)
    )
    frame = read_ratings(file).frame
    places = {system: frame.filter(system=system)["segment"].str.split(":").list.last().to_list() for system in "ABC"}
    assert places == {"A": ["1", "2", "3"], "B": ["1", "2", "3"], "C": ["1", "2", "3", "1", "2", "3"]}


def test_compressed_tables_with_our_own_names(tmp_path: Path) -> None:
    file = tmp_path / "cs-en.ratings.tsv.gz"
    file.write_bytes(
        gzip.compress(b"hit\tannotator\tsystem\tsegment\ttype\traw\tz\ttime\nh\ta\ts\t1\tREF\t5\t-0.5\t9\n")
    )
    frame = read_ratings(file).frame
    assert frame.select("language_pair", "type", "raw", "z").row(0) == ("cs-en", "REF", 5.0, -0.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("annotator\tsystem\tscore\na\tb\t5\n", "no column 'segment'"),
        ("annotator\tsystem\tsegment\na\tb\t5\n", "no column 'score'"),
        ("annotator\tsystem\tsegment\tscore\na\tb\t5\tgood\n", "line 2: raw is 'good'"),
        ("annotator\tsystem\tsegment\tscore\ttype\na\tb\t5\t7\tODD\n", "no type is called 'ODD'"),
        ("annotator\tsystem\tsegment\tscore\na\tb\n", "line 2: 2 columns"),
        ("\n", "is empty"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "ratings.tsv"
    file.write_text(text)
    with pytest.raises(UserError, match=says):
        read_ratings(file)


def test_a_table_of_polars_is_read_like_a_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"annotator": ["ann", "bob"], "system": ["A", "B"], "segment": [1, 2], "score": [70.0, 50.5]})
    table.write_csv(tmp_path / "ratings.csv")
    assert read_ratings(table).frame.equals(read_ratings(tmp_path / "ratings.csv").frame)


def test_spans_in_a_table_may_be_blank_and_wrong_ones_are_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "ratings.tsv"
    marked = '[{"start": 0, "end": 3, "severity": "minor"}]'
    file.write_text(f"annotator\tsystem\tsegment\tscore\tspans\na\tA\t1\t50\t\na\tA\t2\t60\t{marked}\n")
    assert read_ratings(file).frame["spans"].to_list() == [None, marked]
    for wrong in ("wrong place", '{"start": 0}', "[3]"):
        file.write_text(f"annotator\tsystem\tsegment\tscore\tspans\na\tA\t1\t50\t\na\tA\t2\t60\t{wrong}\n")
        with pytest.raises(UserError, match=r"ratings\.tsv line 3"):
            read_ratings(file)

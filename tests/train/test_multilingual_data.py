"""The data of vectors-multi and qe-multi: made of whatever public sets are there, without what is measured by."""

import io
import lzma
import runpy
import sys
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/make_multilingual_data.py"


def archive(path: Path, files: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as held:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data := text.encode())
            held.addfile(member, io.BytesIO(data))


def assessed(rows: list[tuple[str, str, float]]) -> str:
    head = "index\toriginal\ttranslation\tmean\tz_mean\n"
    return head + "".join(
        f"{n}\t{one}\t{other}\t{mean}\t{mean / 50 - 1}\n" for n, (one, other, mean) in enumerate(rows)
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders made of a little of everything."""
    root = tmp_path_factory.mktemp("multilingual")
    sources, direct = root / "sources", root / "sources/mlqe-pe/data/direct-assessments"
    good = ("Pisica doarme pe acoperiș.", "The cat sleeps on the roof.", 90.0)
    poor = ("Câinele latră la 12 oameni.", "The dog barks at 12 people.", 20.0)
    held = ("Acesta este un text ascuns.", "This is a hidden text.", 95.0)
    archive(direct / "train/ro-en-train.tar.gz", {"ro/train.roen.df.short.tsv": assessed([good, poor, held])})
    archive(direct / "dev/ro-en-dev.tar.gz", {"ro/dev.roen.df.short.tsv": assessed([held])})
    edited = {"src": poor[0], "mt": poor[1], "pe": "The dog barks at twelve of the people.", "hter": "0.25"}
    tags = " ".join(["OK"] + ["OK", "OK"] * 4 + ["BAD", "OK"] * 2)
    files = {f"ro/train.{name}": f"{text}\n" for name, text in {**edited, "tags": tags}.items()}
    archive(sources / "mlqe-pe/data/post-editing/train/ro-en-train.tar.gz", files)
    (sources / "europarl").mkdir()
    parliament = [("Wir beginnen mit der Debatte.", "We begin with the debate of 14 May."), (held[0], held[1])]
    parliament += [("Gleich", "gleich"), ("Ja.", "This is much longer than what it is said to be a translation of.")]
    rows = "".join("\t".join(pair) + "\n" for pair in parliament)
    (sources / "europarl/train.de-en.tsv.xz").write_bytes(lzma.compress(rows.encode()))
    kept = sys.argv
    sys.argv = ["make_multilingual_data.py", str(sources), str(root / "out")]
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    finally:
        sys.argv = kept
    return root / "out"


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


def test_pairs_are_translated_and_not_held_out(made: Path) -> None:
    found = {(row[0], row[2], row[3]) for row in rows(made / "vectors/pairs.tsv")}
    assert found == {
        ("ro", "The cat sleeps on the roof.", "mlqe-mt"),
        ("ro", "The dog barks at twelve of the people.", "mlqe-pe"),
        ("de", "We begin with the debate of 14 May.", "europarl"),
    }


def test_ratings_tags_and_dev_have_the_columns_of_the_trainings(made: Path) -> None:
    assert [row[2] for row in rows(made / "quality/ratings.tsv")] == [
        "The cat sleeps on the roof.",
        "The dog barks at 12 people.",
    ]
    (tags,) = rows(made / "quality/tags.tsv")
    assert tags[0] == "ro-en" and tags[3:] == ["000011", "0.25"]
    (dev,) = rows(made / "vectors/dev.tsv")
    assert dev[:2] == ["dev", "ro-en"] and float(dev[4]) == 95.0


def test_what_is_altered_belongs_to_its_line(made: Path) -> None:
    pairs = rows(made / "vectors/pairs.tsv")
    altered = rows(made / "vectors/altered.tsv")
    assert altered
    for number, text in altered:
        english = pairs[int(number)][2]
        assert text != english and len(set(text.split()) & set(english.split())) >= len(english.split()) - 3
    probes = rows(made / "quality/probes.tsv")
    assert {row[1] for row in probes} == {"altering", "preserving"} and {row[0] for row in probes} <= {"0", "1"}

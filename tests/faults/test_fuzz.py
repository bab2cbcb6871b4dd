"""Whatever bytes a file holds and whatever text an option holds: a result, or an error in a sentence."""

import gzip
import io
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelquake.data import read
from babelquake.errors import BabelquakeError, UserError
from babelquake.runs.run import Run
from babelquake.scorers import scorer
from babelquake.spec import Spec, expand, parse
from babelquake.systems import system

FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = [{"source": "Der Hund.", "reference": "The dog."}, {"source": "Die Katze.", "reference": "The cat."}]


def parquet() -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(stream)
    return stream.getvalue()


TABLE = "source\treference\nDer Hund.\tThe dog.\nDie Katze.\tThe cat.\n"
VALID = {
    "d.de-en.tsv": TABLE.encode(),
    "d.de-en.csv": TABLE.replace("\t", ",").encode(),
    "d.de-en.tsv.gz": gzip.compress(TABLE.encode()),
    "d.de-en.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "d.de-en.json": json.dumps(ROWS).encode(),
    "d.de-en.parquet": parquet(),
    "d.tmx": b'<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>Hund</seg></tuv>'
    b'<tuv xml:lang="en"><seg>dog</seg></tuv></tu></body></tmx>',
    "d.xliff": b'<xliff version="1.2"><file source-language="de" target-language="en"><body><trans-unit id="1">'
    b"<source>Hund</source><target>dog</target></trans-unit></body></file></xliff>",
    "d.de-en.sgm": b'<srcset setid="x" srclang="de"><doc docid="a"><seg id="1">Hund</seg></doc></srcset>',
    "d.de-en.xml": b'<dataset id="x"><doc id="a"><src lang="de"><p><seg id="1">Hund</seg></p></src></doc></dataset>',
}


def told(path: Path) -> None:
    try:
        found = read(str(path))
        assert found.segments.height >= 0
    except BabelquakeError as error:
        assert 0 < len(str(error)) < 4000


@pytest.mark.parametrize("name", sorted(VALID))
@FUZZ
@given(data=st.data())
def test_readers_read_or_refuse_changed_files(name: str, data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray(VALID[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(0, len(content) - 1)))
        match data.draw(st.sampled_from(["flip", "cut", "insert", "double"])):
            case "flip" if content:
                content[place] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del content[place:]
            case "insert":
                content[place:place] = data.draw(st.binary(max_size=20))
            case "double":
                content[place:place] = content[: data.draw(st.integers(0, 60))]
    (tmp_path / name).write_bytes(content)
    told(tmp_path / name)


@pytest.mark.parametrize("name", sorted(VALID))
@FUZZ
@given(content=st.binary(max_size=300))
def test_readers_read_or_refuse_any_bytes(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    told(tmp_path / name)


SPECS = st.text(alphabet="ab[]=,|\"'\\ 0.5-:é\n", max_size=30) | st.text(max_size=20)


@settings(max_examples=120, deadline=None)
@given(SPECS)
def test_the_bracket_parser_reads_or_refuses_any_text(text: str) -> None:
    try:
        specs = expand(text)
    except UserError as error:
        assert str(error)
        return
    assert all(parse(str(spec)) == spec for spec in specs)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=8), st.dictionaries(st.text("abc_", min_size=1, max_size=4), st.text(max_size=8), max_size=3))
def test_a_spec_survives_being_written(name: str, options: dict[str, str]) -> None:
    if not name.strip() or name != name.strip() or {"[", "]"} & set(name):
        return
    spec = Spec(name, tuple(sorted(options.items())))
    assert parse(str(spec)) == spec


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(["chrf", "bleu", "ter", "command", "deepl", "hf", "bundled"]), rest=SPECS)
def test_options_are_taken_or_refused(name: str, rest: str) -> None:
    for make in (scorer, lambda text: system(text, "de-en")):
        try:
            make(f"{name}[{rest}]")
        except BabelquakeError as error:
            assert str(error)


@settings(max_examples=150, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_run_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "run.json").write_bytes(content)
    with pytest.raises(UserError):
        Run.open(folder)

"""What docs/data-formats.md says of wrong input is what a reader of it gets to see."""

import re
from pathlib import Path

import pytest

from babelquake.data import read
from babelquake.errors import UserError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-formats.md"
ROWS = re.findall(
    r"^\| [^|`]+ \| `([^`]+)` \|$", PAGE.read_text("utf-8").split("## What can be wrong")[1], re.MULTILINE
)
FILES = {
    "short.tsv": b"source\treference\nja\tyes\nnein\n",
    "unknown.tsv": b"a\tb\tc\n1\t2\t3\n",
    "mixed.txt": b"sch\xc3\xb6n\n\xe4lter\n",
    "nul.txt": b"a\0b\n",
    "p.de": b"ja\nnein\n",
    "p.en": b"yes\n",
    "bad.csv": b'source,reference\n"ja,yes\n',
    "bad.jsonl": b'{"source": "Hallo", "a"\n',
    "score.tsv": b"source\tscore\nja\thigh\n",
    "empty.txt": b"",
}


@pytest.mark.parametrize("message", ROWS, ids=[row.split()[0] for row in ROWS])
def test_every_message_of_the_page_is_real(message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    asked = "parallel[source=p.de,reference=p.en]" if message.startswith("Unequal") else message.split()[0]
    with pytest.raises(UserError) as told:
        read(asked, columns={"source": "q"} if "'q'" in message else None)
    said = str(told.value)
    assert said == message or (message.endswith("…") and said.startswith(message.removesuffix("…"))), said


def test_all_rows_are_found() -> None:
    assert len(ROWS) == 11

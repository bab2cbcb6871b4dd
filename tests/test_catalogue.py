"""The catalogue page says what the cards say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_committed_page_is_up_to_date(tmp_path: Path) -> None:
    """`make docs` would change nothing."""
    made = tmp_path / "catalogue.md"
    subprocess.run([sys.executable, ROOT / "scripts" / "make_catalogue.py", made], check=True)
    assert made.read_text("utf-8") == (ROOT / "docs" / "catalogue.md").read_text("utf-8"), "run `make docs`"

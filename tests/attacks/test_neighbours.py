"""Word neighbours from a file."""

from pathlib import Path

import pytest

from babelquake.attacks.moves.words import neighbours
from babelquake.errors import UserError


def test_blank_lines_are_no_words(tmp_path: Path) -> None:
    file = tmp_path / "near.txt"
    file.write_text("Good fine nice\n\n  \nbad\tpoor\n", "utf-8")
    assert neighbours(str(file)) == {"good": ("fine", "nice"), "bad": ("poor",)}
    file.write_text("\n\n", "utf-8")
    with pytest.raises(UserError, match="no words"):
        neighbours(str(file))

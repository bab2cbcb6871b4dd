"""Make the tables of look-alike letters: `python scripts/make_lookalikes.py DejaVuSans.ttf` (needs Pillow and NumPy).

Candidates come from the Unicode Character Database: letters and symbols that are the same letter underneath, by
compatibility decomposition or by name (LATIN SMALL LETTER T WITH STROKE). They are drawn with the font, and those whose
ink lies nearest to the letter's are kept: twelve of its case and eight of the other. Homoglyphs are letters of another
script with the very same ink.
"""

import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SAME_CASE, OTHER_CASE = 12, 8
"""How many look-alikes a letter keeps; about 4 in 10 of Vu's published ones change the case."""
SIZE = 48
TWIN = 0.02
"""Homoglyphs may differ in at most this share of their ink."""
LEXICON = Path(__file__).resolve().parents[1] / "src" / "babelquake" / "perturb" / "lexicon"
NAME = re.compile(
    r"(?P<script>LATIN|GREEK|CYRILLIC|ARMENIAN) (?:(?:SMALL|CAPITAL) LETTER|LETTER SMALL CAPITAL) (?P<letter>[A-Z-]+)\b"
)

Ink = NDArray[np.float64]


def base(char: str) -> str:
    """The letter underneath, without case: script and letter name, or empty."""
    inner = unicodedata.normalize("NFKD", char)
    letters = [part for part in inner if unicodedata.category(part)[0] == "L"]
    if len(letters) > 1 or not letters:
        return ""
    found = NAME.match(unicodedata.name(letters[0], ""))
    return f"{found['script']} {found['letter']}" if found else ""


def stable(char: str) -> bool:
    """Whether the character stands on its own: assigned, not combining, not a digraph."""
    kind = unicodedata.category(char)
    return kind in ("Lu", "Ll", "So") or (kind == "Lm" and len(unicodedata.normalize("NFKD", char)) == 1)


def drawn(char: str, font: ImageFont.FreeTypeFont) -> Ink:
    """The character's ink on a square, on the font's own baseline."""
    page = Image.new("L", (2 * SIZE, 2 * SIZE))
    ImageDraw.Draw(page).text((SIZE, int(1.4 * SIZE)), char, fill=255, font=font, anchor="ms")
    return np.asarray(page, dtype=np.float64) / 255


def distance(one: Ink, other: Ink) -> float:
    """Ink that is not shared, as a part of all ink."""
    return float(np.abs(one - other).sum() / max(1.0, np.maximum(one, other).sum()))


def main(path: str) -> None:
    """Draw every candidate once, then rank."""
    font = ImageFont.truetype(path, SIZE)
    missing = drawn("\U0010fffd", font)
    ink: dict[str, Ink] = {}
    family: dict[str, list[str]] = {}
    for code in range(0x41, 0x10000):
        char = chr(code)
        if stable(char) and (name := base(char)):
            picture = drawn(char, font)
            if not np.array_equal(picture, missing):
                ink[char] = picture
                family.setdefault(name, []).append(char)
    near, twins = [], []
    for char, picture in ink.items():
        if ord(char) > 0x4FF or unicodedata.category(char) not in ("Lu", "Ll"):
            continue
        others = sorted((distance(picture, ink[other]), other) for other in family[base(char)] if other != char)
        if others:
            same_case = [other for _, other in others if other.isupper() == char.isupper()]
            other_case = [other for _, other in others if other.isupper() != char.isupper()]
            near.append((char, "".join(same_case[:SAME_CASE] + other_case[:OTHER_CASE])))
        script = base(char).split()[0]
        same = [
            (gap, other)
            for other in ink
            if unicodedata.category(other) in ("Lu", "Ll")
            and base(other).split()[0] != script
            and ord(other) < 0x590
            and (gap := distance(picture, ink[other])) <= TWIN
        ]
        if same:
            twins.append((char, "".join(other for _, other in sorted(same))))
    write("lookalikes.tsv", "letter, then look-alikes of the same letter, nearest first", near)
    write("homoglyphs.tsv", "letter, then letters of other scripts drawn the same way", twins)


def write(name: str, what: str, rows: list[tuple[str, str]]) -> None:
    """One letter per line."""
    lines = [f"# {what} (made by scripts/make_lookalikes.py)", *(f"{char}\t{others}" for char, others in sorted(rows))]
    (LEXICON / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

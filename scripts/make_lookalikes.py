"""Make the tables of look-alike letters: `python scripts/make_lookalikes.py FONT.ttf …` (needs Pillow and NumPy).

Candidates come from the Unicode Character Database: letters and symbols that are the same letter underneath, by
compatibility decomposition or by name (LATIN SMALL LETTER T WITH STROKE). They are drawn with the fonts (DejaVuSans.ttf
and, for letters in circles and brackets, NotoSansSymbols-Regular.ttf), and those whose ink lies nearest to the letter's
are kept: twelve of its case and eight of the other. Of these, some are letters with marks that lower-casing and accent
stripping take off again (á), the others letters of another form (ɑ, ⓐ, ᴀ), which a tokenizer does not know: in the
mixture in which Vu's published references hold them. Homoglyphs are letters of another script with the very same ink.
"""

import re
import sys
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SAME_CASE, OTHER_CASE = 12, 8
"""How many look-alikes a letter keeps; about 4 in 10 of Vu's published ones change the case."""
MARKED_SAME, MARKED_OTHER = 7, 4
"""How many of them at most are letters with marks, where there are enough of another form."""
ENCLOSED_SAME, ENCLOSED_OTHER = 2, 1
"""How many of them are letters in circles or brackets, which no ink puts near but every eye does."""
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


def marked(char: str, letter: str) -> bool:
    """Whether lower-casing and stripping accents, as tokenizers do, make the letter of it again."""
    parts = unicodedata.normalize("NFD", char.lower())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn") == letter.lower()


def mixture(others: list[str], letter: str, total: int, with_marks: int, enclosed: int) -> list[str]:
    """The nearest ones: so many with marks, so many enclosed, the rest of another form; marks fill up what is left."""
    around = [char for char in others if unicodedata.category(char) == "So"][:enclosed]
    forms = [char for char in others if not marked(char, letter) and unicodedata.category(char) != "So"]
    forms = forms[: total - with_marks - len(around)]
    accented = [char for char in others if marked(char, letter)][: total - len(around) - len(forms)]
    kept = {*around, *forms, *accented}
    return [char for char in others if char in kept]


@cache
def missing(font: ImageFont.FreeTypeFont) -> Ink:
    """What a font draws for a character it does not have."""
    return drawn("\U0010fffd", font)


def main(paths: list[str]) -> None:
    """Draw every candidate once, with the first font that has it, then rank."""
    fonts = [ImageFont.truetype(path, SIZE) for path in paths]
    ink: dict[str, Ink] = {}
    family: dict[str, list[str]] = {}
    for code in range(0x41, 0x10000):
        char = chr(code)
        if stable(char) and (name := base(char)):
            pictures = (drawn(char, font) for font in fonts if not np.array_equal(drawn(char, font), missing(font)))
            if (picture := next(pictures, None)) is not None:
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
            same = mixture(same_case, char, SAME_CASE, MARKED_SAME, ENCLOSED_SAME)
            other = mixture(other_case, char, OTHER_CASE, MARKED_OTHER, ENCLOSED_OTHER)
            near.append((char, "".join(same + other)))
        script = base(char).split()[0]
        alike = [
            (gap, other)
            for other in ink
            if unicodedata.category(other) in ("Lu", "Ll")
            and base(other).split()[0] != script
            and ord(other) < 0x590
            and (gap := distance(picture, ink[other])) <= TWIN
        ]
        if alike:
            twins.append((char, "".join(other for _, other in sorted(alike))))
    write("lookalikes.tsv", "letter, then look-alikes of the same letter, nearest first", near)
    write("homoglyphs.tsv", "letter, then letters of other scripts drawn the same way", twins)


def write(name: str, what: str, rows: list[tuple[str, str]]) -> None:
    """One letter per line."""
    lines = [f"# {what} (made by scripts/make_lookalikes.py)", *(f"{char}\t{others}" for char, others in sorted(rows))]
    (LEXICON / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

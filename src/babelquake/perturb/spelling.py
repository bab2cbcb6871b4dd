"""Letter case and typos (Niu et al. 2020, §3), misspellings of real writers (Eger and Benz 2020), stretched words.

A keyboard's layout (`lexicon/keyboards/*.yaml`) gives the rows of keys as printed, unshifted, and where each row starts
in key widths. Two keys are neighbours when their centres are at most `REACH` key widths apart: the keys left and right,
and the two above and the two below that they touch.
"""

import string
from collections.abc import Callable, Container, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Literal, NamedTuple

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.limits import text_of
from babelquake.paths import table_of_room, tables_in
from babelquake.perturb.card import perturbation
from babelquake.randomness import Stream
from babelquake.text import (
    TOKEN,
    graphemes,
    has_case,
    is_unspaced,
    main_script,
    map_words,
    match_case,
    replaced,
    script,
    title,
)


def title_words(text: str) -> str:
    """Each word with a capital first letter and the rest in lower case: `don't` → `Don't`."""
    return map_words(text, title)


CASES: dict[str, Callable[[str], str]] = {"upper": str.upper, "lower": str.lower, "title": title_words}
CASE_LABELS = {"any": "odd capitals", "upper": "ALL CAPS", "lower": "all lower case", "title": "Title Case"}


@perturbation(
    "case",
    label=lambda to: CASE_LABELS[to],
    family="case",
    paper="Niu 2020 §3",
    meaning="preserving",
    level=0.5,
    unit="share of sentences",
)
def change_case(
    text: str, level: float, rng: Stream, to: Literal["any", "upper", "lower", "title"] = "any"
) -> str | None:
    """Upper-, lower- or title-case the whole sentence with probability `level`; skipped where a script has no case.

    The paper mixes the three at random, which is `to=any`; `to=upper`, `to=lower` and `to=title` are one each.
    """
    if not has_case(text):
        return None
    if not rng.chance(level):
        return text
    return CASES[rng.choice(tuple(CASES)) if to == "any" else to](text)


Choice = Literal["own", "qwerty"]
"""The language's own layout, or QWERTY for all as Niu 2020 §3 has it."""
REACH = 1.3
DEFAULTS = {"Latin": "en", "Cyrillic": "ru"}
"""The language whose keyboard types a script when the language itself has none on file."""


class Keyboard(NamedTuple):
    """One layout: its letters in key order, and for each key those beside it."""

    name: str
    letters: str
    neighbours: dict[str, str]
    """Every neighbouring key, digits and punctuation included; capitals have capital letters beside them."""
    letter_neighbours: dict[str, str]
    """Neighbours that are letters, for keys that are letters."""
    typos: dict[str, str]
    """What is hit instead of a letter: letters only for a capital, any neighbour for the rest."""
    types_ascii: bool
    """Whether every ASCII letter has a key with a letter beside it."""


def layout(name: str, rows: list[str], starts: list[float]) -> Keyboard:
    """Compute neighbours from the geometry of the rows."""
    keys = [
        (start + column, depth, key)
        for depth, (row, start) in enumerate(zip(rows, starts, strict=True))
        for column, key in enumerate(row)
    ]
    near: dict[str, str] = {}
    for x, y, key in keys:
        beside = [(a - x, b - y, other) for a, b, other in keys if other != key]
        near[key] = "".join(other for dx, dy, other in beside if dx * dx + dy * dy <= REACH * REACH)
    for key in [key for key in near if key.isalpha() and len(key.upper()) == 1]:
        near.setdefault(key.upper(), "".join(one.upper() if len(one.upper()) == 1 else one for one in near[key]))
    only_letters = {key: "".join(filter(str.isalpha, others)) for key, others in near.items() if key.isalpha()}
    letters = "".join(key for _, _, key in keys if key.isalpha())
    reachable = {key: others for key, others in only_letters.items() if others}
    typos = {key: others if key.isupper() else near[key] for key, others in reachable.items()}
    return Keyboard(name, letters, near, reachable, typos, reachable.keys() >= set(string.ascii_letters))


@cache
def layouts() -> dict[str, Keyboard]:
    """Every layout that ships, by language code."""
    by_language: dict[str, Keyboard] = {}
    for name in tables_in("perturb", "lexicon/keyboards"):
        data = table_of_room("perturb", f"lexicon/keyboards/{name}")
        board = layout(data["name"], data["rows"], data["starts"])
        by_language |= dict.fromkeys(data["languages"], board)
    return by_language


@lru_cache(maxsize=256)
def keyboard_of(lang: Language | None, script: str, choice: Choice = "own") -> Keyboard | None:
    """The keyboard of a language, else the usual one of its script, else None (Arabic, Greek … without a layout).

    `qwerty` is the English layout whatever the language, for letters that it has.
    """
    boards = layouts()
    if choice == "qwerty":
        return boards["en"] if script in ("", "Latin") else None
    board = boards.get(lang.code if lang else "")
    if board and script in ("", main_script(board.letters)):
        return board
    return boards.get(DEFAULTS.get(script, ""))


INSERT, DELETE, SUBSTITUTE = range(3)
"""The ways to misspell a word, in the order in which fewer words allow them."""


spelling = partial(perturbation, family="spelling", meaning="preserving")


@spelling("misspell", label="typos", paper="Niu 2020 §3", level=0.1, unit="share of words")
def misspell(text: str, level: float, rng: Stream, lang: Language | None, keyboard: Choice = "own") -> str:
    """Misspell each word with probability `level`: delete, insert or substitute one letter.

    A word is what stands between spaces; one without letters stays. The three strategies are equally likely among those
    the word allows: a substitute is the neighbour of a letter on the keyboard (the language's own, or `keyboard=qwerty`
    as the paper has it for all), so accented letters and scripts without a layout are not substituted, and the only
    letter of a word is not deleted. An inserted letter comes from the keyboard too, or repeats a letter of the word.
    Scripts without spaces (Japanese, Chinese, Thai …) are misspelled letter by letter with probability `level`,
    by deletion or repetition (footnote 2).
    """
    if is_unspaced(text):
        return _drop_or_repeat(text, level, rng)
    latin, draw = keyboard_of(lang, "Latin", keyboard), rng.random
    words = text.split()
    if " ".join(words) == text:
        for index in rng.hits(len(words), level):
            word = words[index]
            if latin and latin.types_ascii and word.isascii() and word.isalpha():
                words[index] = _typed(word, draw(), latin)
            else:
                words[index] = _misspelled(word, draw(), latin, lang, keyboard)
        return " ".join(words)
    spans = [found.span() for found in TOKEN.finditer(text)]
    chosen = [spans[index] for index in rng.hits(len(spans), level)]
    return replaced(
        text, [(start, end, _misspelled(text[start:end], draw(), latin, lang, keyboard)) for start, end in chosen]
    )


def _typed(word: str, draw: float, board: Keyboard) -> str:
    """`_misspelled` for the usual word: ASCII letters alone, each with a key that has letters beside it."""
    length = len(word)
    rest = draw * (2 + (length > 1))
    way = int(rest)
    rest = (rest - way) * length
    start = int(rest)
    rest -= start
    if way == DELETE and length > 1:
        return word[:start] + word[start + 1 :]
    if way == INSERT:
        letters = board.letters
        drawn, after = divmod(int(rest * 2 * len(letters)), 2)
        new = letters[drawn].upper() if length > 1 and word.isupper() else letters[drawn]
        return word[: start + after] + new + word[start + after :]
    near = board.letter_neighbours[word[start]]
    return word[:start] + near[int(rest * len(near))] + word[start + 1 :]


def _misspelled(word: str, draw: float, latin: Keyboard | None, lang: Language | None, choice: Choice) -> str:
    """The word with one letter deleted, inserted or substituted.

    One draw decides all: what is left of it after choosing the way is uniform again and chooses the letter, and so on.
    """
    plain = word.isascii()
    board = latin if plain else keyboard_of(lang, main_script(word), choice)
    units: Sequence[str] = word if plain else graphemes(word)
    letters: Sequence[int] = range(len(units))
    if not (plain and word.isalpha()):
        letters = [index for index, unit in enumerate(units) if unit[0].isalpha()]
        if not letters:
            return word
    typed: Sequence[int] = letters
    if not (plain and board and board.types_ascii):
        keys: Container[str] = board.letter_neighbours if board else ()
        typed = [index for index in letters if (unit := units[index]) in keys and not _is_accented(unit)]
    rest = draw * (1 + (len(letters) > 1) + bool(typed))
    way = int(rest)
    substitutes = way == SUBSTITUTE or (way == 1 and len(letters) == 1)
    chosen = typed if substitutes else letters
    rest = (rest - way) * len(chosen)
    start = chosen[int(rest)]
    rest -= int(rest)
    end = start + 1
    if substitutes and board:
        near = board.letter_neighbours[units[start]]
        new = near[int(rest * len(near))]
    elif way == DELETE:
        new = ""
    else:
        choices: Sequence[str] = board.letters if board else [units[start]]
        drawn, after = divmod(int(rest * 2 * len(choices)), 2)
        new = choices[drawn].upper() if board and len(word) > 1 and word.isupper() else choices[drawn]
        start = end = start + after
    return f"{word[:start]}{new}{word[end:]}" if plain else "".join([*units[:start], new, *units[end:]])


@lru_cache(maxsize=4096)
def _is_accented(letter: str) -> bool:
    """Whether a Latin letter carries a mark: é, ö, ł; Cyrillic й and ё are letters of their own."""
    return not letter.isascii() and script(letter[0]) == "Latin"


def _drop_or_repeat(text: str, level: float, rng: Stream) -> str:
    """Each letter with probability `level` deleted or doubled; the last one left is never deleted."""
    units = graphemes(text)
    left = sum(unit[0].isalpha() for unit in units)
    for index, unit in enumerate(units):
        if unit[0].isalpha() and rng.chance(level):
            if rng.chance(0.5) and left > 1:
                units[index] = ""
                left -= 1
            else:
                units[index] = unit + unit
    return "".join(units)


@lru_cache(maxsize=16)
def typo_list(path: str) -> dict[str, tuple[str, ...]]:
    """Read a list of real misspellings, one `word typo typo …` per line, `#` before a comment."""
    try:
        lines = text_of(path, "document").splitlines()
    except OSError as error:
        raise UserError(f"natural-typo[file={path}]: cannot be read ({error.strerror}).") from error
    known: dict[str, tuple[str, ...]] = {}
    for line in lines:
        word, *typos = line.split() if not line.startswith("#") else [""]
        if typos := [typo for typo in typos if typo != word]:
            known[word] = (*known.get(word, ()), *typos)
    if not known:
        raise UserError(f"{path}: no line has the form 'word typo typo …'.")
    return known


TYPO_LANGUAGES = ("cs", "de", "en", "es", "fr")
"""The languages whose lists of real misspellings ship."""


def known_typos(lang: Language | None) -> dict[str, tuple[str, ...]]:
    """The list that ships for a language; empty where there is none."""
    file = files("babelquake.perturb").joinpath("lexicon", "natural-typos", f"{lang.code if lang else 'en'}.txt")
    return typo_list(str(file)) if file.is_file() else {}


@spelling(
    "natural-typo",
    label="common misspellings ({level})",
    paper="Eger and Benz 2020 §3 (natural)",
    level=0.2,
    unit="share of words with a known misspelling",
    word_lists=TYPO_LANGUAGES,
)
def natural_typo(text: str, level: float, rng: Stream, lang: Language | None, file: str = "") -> str | None:
    """Replace words by misspellings as real writers make them, each known word with probability `level`.

    The lists that ship cover cs, de, en, es and fr; `file=` reads any list of `word typo typo …` lines instead. None
    for a language without a list, and for an unknown one. A typo takes the casing of its word.
    """
    known = typo_list(file) if file else known_typos(lang) if lang else {}
    if not known:
        return None

    def change(word: str) -> str | None:
        typos = known.get(word)
        if typos:
            return rng.choice(typos) if rng.chance(level) else None
        typos = known.get(word.lower())
        return match_case(rng.choice(typos), word) if typos and rng.chance(level) else None

    return map_words(text, change)


@spelling("repeat-letters", label="stretched words", level=0.1, unit="share of words")
def repeat_letters(text: str, level: float, rng: Stream) -> str:
    """Draw out one letter of a word for effect, as in `sooo goood`: each word with probability `level`."""
    pieces, position = [], 0
    for found in TOKEN.finditer(text):
        if not rng.chance(level):
            continue
        units = graphemes(found.group())
        letters = [index for index, unit in enumerate(units) if unit[0].isalpha()]
        if letters:
            index = rng.choice(letters)
            units[index] *= 3 + rng.below(2)
            pieces += [text[position : found.start()], "".join(units)]
            position = found.end()
    return "".join(pieces) + text[position:]

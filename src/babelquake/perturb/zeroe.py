"""Character attacks of the Zéroe benchmark (Eger and Benz 2020), as Vu et al. 2022 §3.2 put them on references.

What the level means was read off Vu's published attacked references (WMT19 lt-en, 0.1 to 0.3), where it is not always
the "probability that each letter is attacked" of their Table 3:

- `intrude`, `disemvowel` and `keyboard-typo` change exactly ⌈level · tokens⌉ words of a sentence, where tokens are
  words and punctuation marks and only words that can be attacked are drawn. So 13 % of the words between spaces change
  at 0.1 and 35 % at 0.3.
- `visual` changes each letter with probability `level`, whatever its case; digits and punctuation stay.
- `phonetic` respells longer words more often: 23 % of the words at 0.1, 50 % at 0.3, as if about every second letter
  were attacked with probability `level`. Words that have no other spelling stay, so ours attacks the rest harder.

The rest of the benchmark (`inner-shuffle`, `full-shuffle`, `truncate`) counts words in the first way.

Look-alikes are made by `scripts/make_lookalikes.py`: one line per letter, its look-alikes after a tab, nearest first.
Respellings are made by `scripts/make_phonetics.py`. A row says: these letters, between this left and this right context
(one letter, two, or the rest of the word; `^` and `$` are its ends), may be written in these other ways.
"""

from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import pairwise
from math import ceil, log1p

import regex

from babelquake.languages import Language
from babelquake.paths import rows_of_room
from babelquake.perturb.card import perturbation
from babelquake.perturb.spelling import Choice, keyboard_of
from babelquake.randomness import Stream
from babelquake.text import TOKEN, graphemes, main_script, map_words, match_case, replaced

RESPELT = ("en", "de", "fr")
LONGEST_SOUND = 4
"""Letters in the longest sequence a table replaces."""

Spot = tuple[int, int, tuple[str, ...]]


@cache
def _sounds(lang: str) -> dict[tuple[str, str, str], tuple[str, ...]]:
    return {
        (left, letters, right): tuple(new.replace("_", "") for new in news.split(" "))
        for left, letters, right, news in rows_of_room("perturb", f"lexicon/phonetics/{lang}.tsv")
    }


@lru_cache(maxsize=65536)
def respellings(word: str, lang: str) -> tuple[Spot, ...]:
    """The spots of a lower-case word that can be respelled: start, end and the choices, in order of start."""
    table = _sounds(lang)
    framed = f"^^{word}$$"
    spots = []
    for start in range(len(word)):
        for end in range(start + 1, min(start + LONGEST_SOUND, len(word)) + 1):
            letters = word[start:end]
            choices = (
                *table.get((f"^{word[:start]}", letters, f"{word[end:]}$"), ()),
                *table.get((framed[start + 1], letters, framed[end + 2]), ()),
                *table.get((framed[start : start + 2], letters, framed[end + 2 : end + 4]), ()),
            )
            if choices:
                spots.append((start, end, tuple(dict.fromkeys(choices))))
    return tuple(spots)


@cache
def lookalikes() -> dict[str, str]:
    """For each letter, up to twenty of the same base letter with marks, in other styles or the other case."""
    return {row[0]: row[1] for row in rows_of_room("perturb", "lexicon/lookalikes.tsv")}


UNIT = regex.compile(
    r"\p{N}+(?:[.,]\p{N}+)*"
    r"|[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*(?:-[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*)*"
    r"|\p{P}"
)
"""Words (split at apostrophes), numbers and single punctuation marks: what a level is a share of."""


def _units(stretches: list[str]) -> list[int | tuple[int, int, int]]:
    """The units of a text parted at spaces: a plain word by its place, others by place, start and end in it."""
    units: list[int | tuple[int, int, int]] = []
    add = units.append
    for at, stretch in enumerate(stretches):
        if stretch.isalpha():
            add(at)
        elif (last := len(stretch) - 1) > 0 and stretch[last] in ".," and stretch[:last].isalpha():
            add((at, 0, last))
            add((at, last, last + 1))
        elif stretch.isdecimal():
            add(at)
        else:
            units += [(at, unit.start(), unit.end()) for unit in UNIT.finditer(stretch)]
    return units


def share_of_words(text: str, level: float, rng: Stream, change: Callable[[str], str | None]) -> str | None:
    """Change ⌈level · tokens⌉ of the words that can be attacked, drawn without replacement; None where none can.

    `change` returns None for a word that cannot be attacked.
    """
    stretches = text.split(" ")
    units = _units(stretches)
    left = len(units)
    wanted = ceil(level * left - 1e-9)
    draw = rng.random
    parts: list[tuple[int, int, int, str]] = []
    done = 0
    while left and done < wanted:
        drawn = int(draw() * left)
        unit = units[drawn]
        left -= 1
        units[drawn] = units[left]
        if isinstance(unit, int):
            if (new := change(stretches[unit])) is not None:
                stretches[unit] = new
                done += 1
        else:
            at, start, end = unit
            if (new := change(stretches[at][start:end])) is not None:
                parts.append((at, start, end, new))
                done += 1
    for at, start, end, new in sorted(parts, reverse=True):
        stretches[at] = stretches[at][:start] + new + stretches[at][end:]
    return " ".join(stretches) if done else None


characters = partial(perturbation, family="characters", meaning="preserving")
vu2022 = partial(characters, paper="Vu 2022 §3.2 (Eger and Benz 2020)", level=0.3, side="reference")
eger2020 = partial(characters, paper="Eger and Benz 2020", level=0.2)
AT_LEAST_ONE = "at least one word in every sentence"
"""⌈level · tokens⌉ words are never none."""
INTRUDERS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
VOWELS = frozenset("aeiouAEIOU") | frozenset(
    "àáâãäåāăąæèéêëēĕėęěìíîïĩīĭįıòóôõöøōŏőœùúûüũūŭůűų"
    "ÀÁÂÃÄÅĀĂĄÆÈÉÊËĒĔĖĘĚÌÍÎÏĨĪĬĮİÒÓÔÕÖØŌŎŐŒÙÚÛÜŨŪŬŮŰŲ"
    "аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄαεηιουωάέήίόύώϊϋΐΰΑΕΗΙΟΥΩΆΈΉΊΌΎΏ"
)


@vu2022(
    "intrude", floor=AT_LEAST_ONE, label="punctuation inside words", unit="share of words; in them, probability per gap"
)
def intrude(text: str, level: float, rng: Stream) -> str | None:
    """Put a punctuation mark between the letters of words: `c/o/me t+o a>n`.

    A word gets one mark, at each of its inner gaps with probability `level` and at least at one. Skipped where no word
    has two characters.
    """

    def change(word: str) -> str | None:
        units = graphemes(word)
        if len(units) < 2:
            return None
        mark = rng.choice(INTRUDERS)
        first = _first_hit(len(units) - 1, level, rng)
        gaps = [first, *(gap for gap in range(first + 1, len(units) - 1) if rng.chance(level))]
        for gap in reversed(gaps):
            units.insert(gap + 1, mark)
        return "".join(units)

    return share_of_words(text, level, rng, change)


def _first_hit(n: int, probability: float, rng: Stream) -> int:
    """The first success in `n` trials, given that there is one: a geometric draw cut off at `n`."""
    if probability >= 1:
        return 0
    miss = log1p(-probability)
    return min(n - 1, int(log1p(-rng.random() * (1 - (1 - probability) ** n)) / miss))


def _disemvowelled(word: str) -> str | None:
    """The word without its vowels; None for short words, and where that leaves all of it or no letter."""
    if len(word) < 3 or VOWELS.isdisjoint(word):
        return None
    rest = "".join(unit for unit in graphemes(word) if unit[0] not in VOWELS)
    return rest if any(map(str.isalpha, rest)) else None


@vu2022("disemvowel", floor=AT_LEAST_ONE, label="vowels missing", unit="share of words")
def disemvowel(text: str, level: float, rng: Stream) -> str | None:
    """Remove every vowel from words of three letters or more: `Nw thy have come to an grmnt`.

    The letter y stays. Skipped where no word has both vowels and other letters, as in scripts that write no vowels.
    """
    return share_of_words(text, level, rng, _disemvowelled)


@vu2022("keyboard-typo", floor=AT_LEAST_ONE, label="slipped keys", unit="share of words")
def keyboard_typo(text: str, level: float, rng: Stream, lang: Language | None, keyboard: Choice = "own") -> str | None:
    """Hit the key beside the right one, once a word: `No3 they have come to xn agrrement`.

    Neighbours are those of the language's keyboard, or with `keyboard=qwerty` of the English one, digits and
    punctuation included; a capital becomes a capital.
    Skipped where the script has no keyboard on file.
    """
    plain = text.isascii()
    board = keyboard_of(lang, "Latin" if plain else main_script(text), keyboard)
    if board is None:
        return None
    typos, draw = board.typos, rng.random
    keys = typos.keys()

    def change(word: str) -> str | None:
        units = word if plain else graphemes(word)
        if keys.isdisjoint(units):
            return None
        size, near = len(units), None
        while near is None:
            rest = draw() * size
            index = int(rest)
            near = typos.get(units[index])
        typed = near[int((rest - index) * len(near))]
        if plain:
            return word[:index] + typed + word[index + 1 :]
        return "".join([*units[:index], typed, *units[index + 1 :]])

    return share_of_words(text, level, rng, change)


@vu2022(
    "phonetic",
    label="words spelt as they sound",
    unit="probability per letter, at four letters in five",
    languages=RESPELT,
)
def phonetic(text: str, level: float, rng: Stream, lang: Language | None) -> str:
    """Respell words so that they sound the same: `Nau they have cohm to an agrimand`.

    A word of n letters is attacked with probability 1 − (1 − level)^(0.8·n), then at each spot the language's rules
    name with probability `level` and at least at one, two letters or more apart so that one change does not touch the
    context of another. A word without such a spot stays. Casing is kept.
    """
    keep = 1 - level

    def change(word: str) -> str | None:
        if rng.random() < keep ** (0.8 * len(word)):
            return None
        spots = respellings(word.lower(), lang.code if lang else "en")
        if not spots:
            return None
        chosen = [spot for spot in spots if rng.chance(level)] or [rng.choice(spots)]
        edits, end = [], -2
        for start, stop, choices in chosen:
            if start >= end + 2:
                edits.append((start, stop, rng.choice(choices)))
                end = stop
        return match_case(replaced(word.lower(), edits), word)

    return map_words(text, change)


@vu2022(
    "visual", label="letters with odd marks", paper="Vu 2022 §3.2 (Eger et al. 2019)", unit="probability per letter"
)
def visual(text: str, level: float, rng: Stream) -> str:
    """Replace letters by look-alikes with marks, of another form or case: `Nⓞw thEY hÅve come to à agrèÈmɆnt`."""
    near, draw, choice = lookalikes(), rng.random, rng.choice
    return "".join(choice(near[unit]) if unit in near and draw() < level else unit for unit in graphemes(text))


@eger2020("inner-shuffle", floor=AT_LEAST_ONE, label="inner letters shuffled", unit="share of words")
def inner_shuffle(text: str, level: float, rng: Stream) -> str | None:
    """Shuffle the letters of words, first and last kept: `agermneet`. Skipped where no word has two to exchange."""
    return share_of_words(text, level, rng, lambda word: _shuffled(word, rng, 1))


@eger2020("full-shuffle", floor=AT_LEAST_ONE, label="letters shuffled", unit="share of words")
def full_shuffle(text: str, level: float, rng: Stream) -> str | None:
    """Shuffle all letters of words: `mtneegare`. Skipped where no word has two different ones."""
    return share_of_words(text, level, rng, lambda word: _shuffled(word, rng, 0))


def _shuffled(word: str, rng: Stream, margin: int) -> str | None:
    """The word in another order, `margin` graphemes at each end kept in place; None where there is no other."""
    units = graphemes(word)
    inner = units[margin : len(units) - margin]
    if len(set(inner)) < 2:
        return None
    order = inner
    while order == inner:
        order = rng.shuffled(inner)
    return "".join([*units[:margin], *order, *units[len(units) - margin :]])


@eger2020("truncate", floor=AT_LEAST_ONE, label="last letters missing", unit="share of words")
def truncate(text: str, level: float, rng: Stream) -> str | None:
    """Cut the last letter off words of three letters or more: `agreemen`. Skipped where there is no such word."""
    return share_of_words(text, level, rng, _truncated)


def _truncated(word: str) -> str | None:
    units = graphemes(word)
    return "".join(units[:-1]) if len(units) > 2 else None


@eger2020("segment", label="words run together ({level} of gaps)", unit="share of gaps between words")
def segment(text: str, level: float, rng: Stream) -> str | None:
    """Join words with the next one: `Now theyhave come`. Skipped where there is nothing to join."""
    spans = [found.span() for found in TOKEN.finditer(text)]
    if len(spans) < 2:
        return None
    return replaced(text, [(end, start, "") for (_, end), (start, _) in pairwise(spans) if rng.chance(level)])

"""Numbers, dates and units that were lost or changed.

Precision before recall: a number counts as kept when its digits stand in the translation with any separators (but for
a decimal mark: 3,5 is not 35, while 1.000, 1,000 and 1000 are one number), when it is written as a word or in Roman
numerals, when a scale (thousand, million, k), a 24-hour clock, a decade or a converted unit explains it. Digits inside
words (`gr8`, `user16`) and in fractions (`24/7`) are not judged.
"""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import Indel

from babelquake.failures.base import Failure, detector, lost_and_added
from babelquake.failures.pair import Pair, Side, Words, remembered

NUMBER = re.compile(
    r"(?<![\w@#&/\\.’'^_~-])(\d{1,15}(?:[.,:'’]\d{1,15}|[\u00a0\u202f ]\d{3}(?!\d))*)"
    r"(?:\s?(am|pm|a\.m|p\.m))?(st|nd|rd|th|s|k|m|bn|mm|kg|km|cm|lbs?|ft|h|x|%|\s%|°)?(?![\w@/^_~\\]|[.,]\d|-\d|:\d)",
    re.IGNORECASE,
)
AFTER = re.compile(r"[\s\u00a0\u202f-]{0,2}([^\W\d_]{1,14}|[$€£¥])")
HAS_DIGIT = re.compile(r"\d")
MARK = re.compile(r"\D")
WITHOUT_MARK = re.compile(r"(?<![\d.,])\d+(?![.,]?\d)")
WITH_MARK = re.compile(r"\d*(?:[.,]\d+)+")
THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:\.\d{3})+")
ROMAN = re.compile(r"\b[IVXL]{1,7}(?=(?:er?|[èe]me|º|ª)?\b)")
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
SLANG = frozenset({"100", "101", "110", "200", "1000", "1000000", "360", "180", "24", "69", "420", "666", "911"})
"""Figures of speech: "100 % sure", "24 hours a day", "a 180"; they may be said in other words."""
SEVERAL_DIGITS = 10
"""The smallest number that counts as lost by its absence; smaller ones have to be replaced by another."""
SURE_DIGITS = 3
"""Significant digits of a number that no language writes as a word."""


class Number(NamedTuple):
    """A number in digits."""

    text: str
    groups: tuple[str, ...]
    suffix: str
    start: int
    end: int
    scaled: bool = False
    """Whether a word such as million follows."""
    unit: str = ""
    """What it counts or measures, where that word follows."""

    @property
    def digits(self) -> str:
        """All digits, without separators and leading zeros."""
        return "".join(self.groups).lstrip("0") or "0"

    @property
    def is_decimal(self) -> bool:
        """Whether a mark in it begins a fraction, as in 3,5 and 1.250,50; 1.000 may be a thousand."""
        *marks, last = MARK.findall(self.text) or [":"]
        may_be_thousand = len(self.groups[-1]) == 3 and not marks and self.text[0] != "0"
        return last in ".," and last not in marks and not may_be_thousand

    @property
    def is_whole(self) -> bool:
        """Whether it has no mark, or one that groups thousands; the time 0730 is no whole number."""
        thousands = len(set(MARK.findall(self.text))) < 2 and all(len(group) == 3 for group in self.groups[1:])
        return thousands and ":" not in self.text and self.text[0] != "0"

    @property
    def value(self) -> str:
        """Its digits, with a point where a fraction begins."""
        return f"{''.join(self.groups[:-1])}.{self.groups[-1]}" if self.is_decimal else self.digits

    @property
    def without_mark(self) -> str:
        """What is left of it where its mark is lost: the 5 of 0,5, and the 05 of 0,05."""
        return "".join(self.groups[1:] if self.groups[0] == "0" else self.groups)

    @property
    def significant(self) -> str:
        """The digits without zeros at the end."""
        return self.digits.rstrip("0")


@remembered
def numbers(side: Side) -> list[Number]:
    """The numbers written in digits in a text's prose."""
    return list(_numbers(side.prose, side.lexicon)) if _has_digit(side) else []


def _has_digit(side: Side) -> bool:
    """Whether there is a digit, of any script."""
    for digit in "0123456789":
        if digit in side.text:
            return True
    return not side.is_latin and HAS_DIGIT.search(side.text) is not None


def _numbers(text: str, lexicon: Words | None) -> Iterator[Number]:
    for match in NUMBER.finditer(text):
        groups = tuple(str(int(group)) if not group.isascii() else group for group in re.split(r"\D+", match.group(1)))
        suffix = (match.group(2) or match.group(3) or "").strip().lower()
        after = AFTER.match(text, match.end())
        word = after.group(1).lower() if after is not None else ""
        scaled = word[:1] in LARGE or (lexicon is not None and word in lexicon.scales)
        unit = lexicon.units.get(word, "") if lexicon is not None else ""
        yield Number(match.group(1), groups, suffix, match.start(1), match.end(1), scaled, unit)


@remembered
def _digit_strings(side: Side) -> frozenset[str]:
    """Every run of digits in a text, in words too, alone and joined with the runs next to it."""
    runs = re.findall(r"\d+", side.text)
    chunks = ["".join(re.findall(r"\d+", chunk)) for chunk in re.findall(r"\d+(?:[.,:'’\u00a0\u202f ]\d+)+", side.text)]
    pairs = [first + second for first, second in itertools.pairwise(runs)]
    if not side.text.isascii():
        runs += map(_from_signs, IN_SIGNS.findall(side.text))
    return frozenset(_ascii(run).lstrip("0") or "0" for run in [*runs, *chunks, *pairs])


FRACTIONS = {"½": "5", "¼": "25", "¾": "75"}
SIGNS = {sign: value for value, signs in enumerate(("〇零", "一", "二两兩", *"三四五六七八九")) for sign in signs}
POWERS = {"十": 10, "십": 10, "百": 100, "백": 100, "千": 1_000, "천": 1_000}
LARGE = {"万": 10_000, "萬": 10_000, "만": 10_000, "亿": 10**8, "億": 10**8, "억": 10**8, "兆": 10**12, "조": 10**12}
"""Signs that multiply all that stands before them, back to the last of their like: 三万五千."""
POWER = "".join([*POWERS, *LARGE])
IN_SIGNS = re.compile(
    rf"\d*[{''.join(FRACTIONS)}]|(?:\d[\d.,]{{0,14}}\s?(?=[{POWER}])|[{''.join(SIGNS)}{POWER}])"
    rf"(?:\s?\d[\d.,]{{0,14}}|\s?[{''.join(SIGNS)}{POWER}]|点)*"
)
STEP = re.compile(rf"\d[\d.,]*|[{''.join(SIGNS)}]+|[{POWER}]")


def _from_signs(written: str) -> str:
    """The digits of a number with a fraction in one sign (2½) or with signs of Chinese, Japanese or Korean.

    >>> [_from_signs(written) for written in ("2½", "十二点五", "一九九八", "1億4,200万", "3만 5천")]
    ['25', '125', '1998', '142000000', '35000']
    """
    if written[-1] in FRACTIONS:
        return written[:-1] + FRACTIONS[written[-1]]
    whole, _, fraction = written.partition("点")
    if POWERS.keys().isdisjoint(whole) and LARGE.keys().isdisjoint(whole):
        digits = "".join(str(SIGNS.get(sign, "")) for sign in whole)
    else:
        total = below = told = 0.0
        for step in STEP.findall(whole):
            if step in POWERS:
                below, told = below + (told or 1) * POWERS[step], 0
            elif step in LARGE:
                total, below, told = total + (below + told) * LARGE[step], 0, 0
            elif step[0] in SIGNS:
                told = int("".join(str(SIGNS[sign]) for sign in step))
            else:
                told = float(_ascii(step.replace(",", "").rstrip(".").replace(".", "", step.count(".") - 1)))
        digits = str(round(total + below + told))
    return digits + "".join(str(SIGNS[sign]) for sign in fraction if sign in SIGNS)


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(char)) if char.isdigit() else char for char in digits)


def is_kept(number: Number, text: Side) -> bool:
    """Whether a text has a number, or may have it in another form."""
    digits, there = number.digits, _digit_strings(text)
    if digits in there or all((group.lstrip("0") or "0") in there for group in number.groups):
        return True
    if len(number.groups) > 1 and text.lexicon is not None:
        months = {str(month) for word, month in text.lexicon.months.items() if word in text.vocabulary}
        if all((group.lstrip("0") or "0") in there or group.lstrip("0") in months for group in number.groups):
            return True
    if digits in SLANG or digits == "0" or len(digits) > 12 or _is_of_a_year(number, there):
        return True
    if _is_year_of_an_era(number, text) or _is_said_in_parts(number, text) or _is_other_time(number, text):
        return True
    return _is_in_words(number, text) or _is_converted(number, text, there)


def _is_in_words(number: Number, text: Side) -> bool:
    lexicon, value = text.lexicon, int(number.digits)
    if lexicon is None or not lexicon.numbers:
        return len(number.significant) < SURE_DIGITS
    vocabulary = text.vocabulary
    for word in vocabulary:
        if lexicon.numbers.get(word) == value or (value >= SEVERAL_DIGITS and word.startswith(lexicon.number_starts)):
            return True
        if (
            value < SEVERAL_DIGITS
            and len(word) > 5
            and any(
                word.startswith(form) for form, known in lexicon.numbers.items() if known == value and len(form) > 2
            )
        ):
            return True
    if value < LARGEST_ROMAN and any(_roman(found) == value for found in ROMAN.findall(text.text)):
        return True
    if value <= 12 and any(lexicon.months.get(word) == value for word in vocabulary):
        return True
    if not lexicon.scales.isdisjoint(vocabulary):
        return True
    forms = [form for form, known in lexicon.numbers.items() if known == value and len(form) >= SHORTEST_MISSPELT]
    return any(Indel.normalized_similarity(word, form) >= ALIKE for form in forms for word in vocabulary)


SHORTEST_MISSPELT, ALIKE = 4, 0.8
"""Number words of so many letters are known misspelt too: noisy sources have zwwölf and zwölv."""


LARGEST_ROMAN = 40


def _is_of_a_year(number: Number, there: frozenset[str]) -> bool:
    """Whether a number of two digits is the decade or century of a year: the 60s of 1965, the 20th century of 1910."""
    if len(number.digits) != 2:
        return False
    years = [year for year in there if len(year) == 4]
    return any(year.endswith(number.digits) or int(year[:2]) + 1 == int(number.digits) for year in years)


ERA = re.compile(r"(?:明治|大正|昭和|平成|令和|民[国國])[\d〇零一二三四五六七八九十元]")


def _is_year_of_an_era(number: Number, text: Side) -> bool:
    """Whether a year may be counted from an emperor's or a republic's first in the other text: 平成30年 is 2018."""
    return len(number.digits) == 4 and 1868 <= int(number.digits) < 2100 and ERA.search(text.text) is not None


QUARTERS = frozenset({"15", "30", "45", "5", "25", "75"})


def _is_said_in_parts(number: Number, text: Side) -> bool:
    """Whether 7:30 or 2.5 may be "halb acht" or "zweieinhalb"; the same for quarters."""
    if len(number.groups) != 2 or number.groups[1] not in QUARTERS or text.lexicon is None:
        return False
    parts = text.lexicon.pattern("parts")
    return parts is not None and parts.search(text.text) is not None


TIMES = ("second", "minute", "hour", "day", "week", "month", "year")
SPANS: dict[str, frozenset[int]] = {
    "minute": frozenset({30, 60, 90, 120, 150, 180, 240}),
    "hour": frozenset({12, 24, 36, 48, 60, 72, 96}),
    "day": frozenset({7, 8, 10, 14, 15, 21, 28, 30, 31, 60, 90, 365}),
    "month": frozenset({6, 12, 18, 24, 30, 36}),
}
"""Times of which another unit is as usual: 90 minutes, 48 hours, and the quinze jours that are two weeks in French."""


def _is_other_time(number: Number, text: Side) -> bool:
    """Whether a time may be said in another unit, which the text names."""
    if text.lexicon is None or number.unit not in TIMES:
        return False
    if int(number.digits) not in SPANS.get(number.unit, ()) and number.groups[1:] != ("5",):
        return False
    units = {text.lexicon.units.get(word) for word in text.vocabulary}
    return any(unit in units for unit in TIMES if unit != number.unit)


def _is_converted(number: Number, text: Side, there: frozenset[str]) -> bool:
    """Whether a scale, the clock, a decade or a unit explains why other digits stand there."""
    value = int(number.digits)
    scaled = (
        number.scaled or number.suffix in ("k", "m", "bn", "mm") or len(number.digits) - len(number.significant) >= 3
    )
    if scaled and any(found.rstrip("0") == number.significant for found in there):
        return True
    if ":" in number.text or number.suffix in ("am", "pm", "a.m", "p.m") or value <= 24:
        hour = int(number.groups[0])
        if str((hour + 12) % 24) in there or (number.groups[-1].strip("0") == "" and str(hour) in there):
            return True
    century = value // 100 + 1
    if (
        1000 <= value < 2100
        and (number.suffix == "s" or value % 100 == 0)
        and (str(century) in there or any(_roman(found) == century for found in ROMAN.findall(text.text)))
    ):
        return True
    if number.groups[1:] == ("00",) and number.groups[0].lstrip("0") in there:
        return True
    if number.suffix == "s" and 1800 <= value < 2100 and value % 100:
        decade = number._replace(groups=(number.digits[-2:],), suffix="")
        if _is_in_words(decade, text):
            return True
    if number.suffix == "s" or (1800 <= value < 2100 and value % 10 == 0):
        return number.digits[-2:].lstrip("0") in there or number.digits[-2:-1] + "0" in there
    if 1000 <= value < 2100 and number.digits[-2:] in there:
        return True
    return number.suffix in ("ft", "lb", "lbs", "km", "cm", "kg", "°", "mm")


def _roman(numeral: str) -> int:
    values = [ROMAN_VALUES[char] for char in numeral]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _mark_moved(pair: Pair) -> list[tuple[Number, Number]]:
    """Numbers of the source whose decimal mark is lost in the translation, or that got one there."""
    added = [(before, after) for after, before in _mark_lost(pair.translation, pair.source)]
    return [*_mark_lost(pair.source, pair.translation), *added]


def _mark_lost(ours: Side, theirs: Side) -> list[tuple[Number, Number]]:
    """Decimals of one text that are whole numbers of the same digits in the other: 3,5 Euro and 35 euros.

    Neither text has the other's form anywhere. Different scales and units, and the scales of Chinese, Japanese and
    Korean (1.05 million are 105 万), are conversions.
    """
    decimals = {one.without_mark: one for one in numbers(ours) if one.is_decimal}
    if not decimals:
        return []
    wholes = {other.digits: other for other in numbers(theirs) if other.is_whole}
    return [
        (decimals[digits], wholes[digits])
        for digits in decimals.keys() & wholes.keys()
        if not _has_whole(ours, digits) and not _has_decimal(theirs, digits)
        if _is_same_measure(decimals[digits], wholes[digits])
        if not decimals[digits].scaled or (ours.is_latin and theirs.is_latin)
    ]


def _has_whole(side: Side, digits: str) -> bool:
    found = {_ascii(run) for run in WITHOUT_MARK.findall(side.text)}
    return digits in found or any(one.is_whole and one.digits == digits for one in numbers(side))


def _has_decimal(side: Side, digits: str) -> bool:
    runs = [_ascii(run) for run in WITH_MARK.findall(side.text) if not THOUSANDS.fullmatch(run)]
    found = {MARK.sub("", run).lstrip("0") for run in runs}
    found |= set() if side.text.isascii() else {_from_signs(run) for run in IN_SIGNS.findall(side.text)}
    return digits.lstrip("0") in found


def _is_same_measure(one: Number, other: Number) -> bool:
    """Whether two numbers have the same scale and no different units."""
    units = {"percent" if "%" in item.suffix else item.unit for item in (one, other)}
    scales = {item.scaled or item.suffix == "bn" for item in (one, other) if item.suffix not in ("k", "m")}
    return len(scales) < 2 and len(units - {""}) < 2


@detector("number", family="content", needs=("source", "target language"))
def number(pair: Pair) -> Failure | None:
    """A number of the source is not in the translation, or the translation has one that is not in the source."""
    ours, theirs = numbers(pair.source), numbers(pair.translation)
    if not ours and not theirs:
        return None
    if moved := _mark_moved(pair):
        return _failure([before for before, _ in moved], [after for _, after in moved], len(ours), len(theirs))
    lost = [item for item in ours if not is_kept(item, pair.translation)]
    added = [item for item in theirs if not is_kept(item, pair.source)] if pair.source.lexicon else []
    large = [item for item in lost if int(item.digits) >= SEVERAL_DIGITS]
    if not large and not (lost and added):
        added = [item for item in added if int(item.digits) >= SEVERAL_DIGITS]
        if not added:
            return None
        lost = []
    if lost and not added:
        lost = large
    convertible = _has_convertible(pair.source, IMPERIAL) or _has_convertible(pair.translation, IMPERIAL_WORDS)
    if convertible and _has_any_number(pair.translation):
        return None
    return _failure(lost, added, len(ours), len(theirs))


def _failure(lost: list[Number], added: list[Number], ours: int, theirs: int) -> Failure:
    """Which numbers are gone and which came, of how many."""
    evidence = lost_and_added([item.text for item in lost], [item.text for item in added])
    share = max(len(lost), len(added)) / max(1, ours, theirs)
    return Failure("number", share, evidence, tuple((item.start, item.end) for item in added[:20]))


CONVERTIBLE = frozenset(
    "mile foot inch yard pound ounce gallon kilometre metre centimetre kilogram gram litre".split()  # noqa: SIM905
)


def _has_convertible(side: Side, written: re.Pattern[str]) -> bool:
    if side.lexicon is None:
        return False
    if any(side.lexicon.units.get(word) in CONVERTIBLE for word in side.vocabulary):
        return True
    return written.search(side.prose) is not None


def _has_any_number(side: Side) -> bool:
    """Whether there is a number in digits or words, which may be a converted one."""
    known = side.lexicon.numbers.keys() if side.lexicon is not None else ()
    return _has_digit(side) or not side.vocabulary.isdisjoint(known)


IMPERIAL_WORDS = re.compile(r"\d\s?(?:°|ft|lbs?|in\b(?!\s+[^\W\d])|mi\b|mph|[Ff]\b)|\d[\s-]?degree")
IMPERIAL = re.compile(rf"\d\s?(?:['’′][\d\s]|[\"”″])|{IMPERIAL_WORDS.pattern}")
"""In a source also feet and inches as signs, which in the translation of code are quotation marks."""
MONEY = {"$": "dollar", "€": "euro", "£": "sterling", "¥": "yen"}
DIMENSION = {
    **dict.fromkeys(("mile", "foot", "inch", "yard", "kilometre", "metre", "centimetre", "millimetre"), "length"),
    **dict.fromkeys(("ounce", "kilogram", "gram"), "mass"),
    **dict.fromkeys(("litre", "gallon"), "volume"),
    **dict.fromkeys(("hour", "minute", "second", "day", "week", "month", "year"), "time"),
    **dict.fromkeys(("dollar", "euro", "sterling", "crown", "yen"), "money"),
}


def _measured(side: Side) -> dict[str, set[str]]:
    """For each number the units that stand at it."""
    found: dict[str, set[str]] = {}
    lexicon = side.lexicon
    if lexicon is None:
        return found
    text = side.prose
    for item in numbers(side):
        units = found.setdefault(item.value, set())
        if unit := MONEY.get(text[item.start - 1 : item.start] or " "):
            units.add(unit)
        if after := AFTER.match(text, item.end):
            word = after.group(1)
            if unit := MONEY.get(word) or lexicon.units.get(word.lower()):
                units.add(unit)
            if (second := AFTER.match(text, after.end())) and (unit := lexicon.units.get(second.group(1).lower())):
                units.add(unit)
        elif item.suffix in lexicon.units:
            units.add(lexicon.units[item.suffix])
    return found


@detector(
    "unit",
    family="content",
    needs=("source", "source language", "target language"),
    languages=("en", "cs", "es", "de", "fr"),
)
def unit(pair: Pair) -> Failure | None:
    """A number kept its digits and changed its unit: miles became kilometres, dollars euros, weeks months."""
    if not numbers(pair.source) or not numbers(pair.translation):
        return None
    ours, theirs = _measured(pair.source), _measured(pair.translation)
    for digits, units in ours.items():
        others = theirs.get(digits)
        if not others or not units or units & others:
            continue
        for before in units:
            for after in others:
                if before in DIMENSION and DIMENSION[before] == DIMENSION.get(after):
                    return Failure("unit", 1.0, f"{digits} {before} became {digits} {after}")
    return None


AMBIGUOUS = frozenset(
    {"may", "march", "mar", "august", "dec", "sep", "jan", "jun", "apr", "oct", "nov", "feb", "jul", "aug"}
)
"""English months that are other words too: they count beside a number only."""


def _dates(side: Side) -> tuple[set[int], set[int]]:
    """Months and weekdays that a text names beyond doubt."""
    lexicon = side.lexicon
    if lexicon is None:
        return set(), set()
    vocabulary = side.vocabulary
    months = {number for word, number in lexicon.months.items() if word in vocabulary and word not in AMBIGUOUS}
    if not months and not vocabulary & AMBIGUOUS and vocabulary.isdisjoint(lexicon.weekdays):
        return set(), set()
    for word in AMBIGUOUS & vocabulary & lexicon.months.keys():
        if re.search(rf"\b{word}\.?\s\d|\d(?:st|nd|rd|th)?\.?\s(?:of\s)?{word}\b", side.text, re.IGNORECASE):
            months.add(lexicon.months[word])
    return months, {number for word, number in lexicon.weekdays.items() if word in vocabulary}


@detector(
    "date",
    family="content",
    needs=("source", "source language", "target language"),
    languages=("en", "cs", "es", "de", "fr"),
)
def date(pair: Pair) -> Failure | None:
    """The translation names another month or weekday than the source."""
    ours, theirs = pair.source.lexicon, pair.translation.lexicon
    if ours is None or theirs is None or pair.source.vocabulary.isdisjoint(ours.calendar):
        return None
    maybe = {ours.months[word] for word in AMBIGUOUS & pair.source.vocabulary & ours.months.keys()}
    for named, found in zip(_dates(pair.source), _dates(pair.translation), strict=True):
        if found <= maybe:
            continue
        if named and found and not named & found:
            if pair.translation.vocabulary & pair.source.vocabulary & ours.calendar:
                continue
            if any(str(month) in _digit_strings(pair.translation) for month in named):
                continue
            return Failure("date", 1.0, f"{_names(pair.source, named)} became {_names(pair.translation, found)}")
    return None


def _names(side: Side, wanted: set[int]) -> str:
    lexicon = side.lexicon
    if lexicon is None:
        return ""
    named = [
        word
        for word in side.written
        if lexicon.months.get(word.lower()) in wanted or lexicon.weekdays.get(word.lower()) in wanted
    ]
    return ", ".join(named[:4])

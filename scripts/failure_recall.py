"""Of faults put into good translations, how many does each detector find? Precision is judged by reading.

    python scripts/failure_recall.py DATA         # DATA holds wmt24/

Every fault is put into WMT24's reference translations (en-cs, en-es) wherever it can be: a number that changes a digit,
a negation that goes, the reference of another segment, half of the words in English. One line per kind: translations
with the fault, and the share of them that is flagged as that kind, or as any kind at all.
"""

import random
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from babelquake.engine import Engine
from babelquake.failures import DETECTORS, Pair, cards_for
from babelquake.failures.words import words_of
from babelquake.languages import LanguagePair
from babelquake.studies.detection import detached_among

Texts = tuple[str, str]
Fault = Callable[[str, str, random.Random], Texts | None]
"""A source and its reference, changed; None where the fault cannot be put in."""
EMOJI = ("🙂", "👍", "☀️", "⁂", "ꙮ")


def _swap_forms(text: str, groups: list[list[str]], rng: random.Random) -> str | None:
    """A text with one of the listed words replaced by the first form of another group."""
    for word in re.findall(r"[^\W\d_]+", text):
        for place, forms in enumerate(groups):
            if word.lower() in forms:
                others = [forms for number, forms in enumerate(groups) if number != place]
                return re.sub(rf"\b{word}\b", rng.choice(others)[0], text, count=1)
    return None


def faults(pair: LanguagePair, others: list[str], third: list[str]) -> dict[str, list[Fault]]:
    """Ways to spoil a translation, by the kind of failure that each is."""
    theirs = words_of(pair.target)
    assert theirs is not None
    months = [list(forms) for forms in _by_value(theirs.months).values()]
    units = [
        list(forms) for unit, forms in _by_value(theirs.units).items() if unit in ("kilometre", "mile", "metre", "inch")
    ]

    def other_digit(source: str, made: str, rng: random.Random) -> Texts | None:
        found = [match for match in re.finditer(r"(?<![\w.,])\d{2,4}(?![\w.,]\d)", made) if match.group() in source]
        if not found:
            return None
        place = rng.choice(found)
        digit = str((int(made[place.start()]) + rng.randint(1, 8)) % 9 + 1)
        changed = digit + place.group()[1:]
        return None if changed == place.group() else (source, made[: place.start()] + changed + made[place.end() :])

    def lost_number(source: str, made: str, rng: random.Random) -> Texts | None:
        found = [match for match in re.finditer(r" \d{2,4}(?= )", made) if match.group().strip() in source]
        return (source, made[: found[0].start()] + made[found[0].end() :]) if found else None

    def without_no(source: str, made: str, rng: random.Random) -> Texts | None:
        if pair.target.code == "es":
            changed = re.sub(r"\b[Nn]o (?=\w)", "", made)
        else:
            changed = re.sub(r"\b([Nn])e((?:ní|jsou|byl|m|ch|d|v|p|z|s|u)\w+)", r"\2", made)
        denies = re.search(r"\b\w+n['’]t\b|\bnot\b|\bnever\b", source)
        return (source, changed) if denies and changed != made else None

    def with_no(source: str, made: str, rng: random.Random) -> Texts | None:
        if re.search(r"n['’]t\b|\bno[tr]?\b|\bnever\b|\?", source):
            return None
        if pair.target.code == "es":
            changed = re.sub(r"\b(es|son|fue|tiene|puede|está|ha|hay|era)\b", r"no \1", made, count=1)
        else:
            changed = re.sub(r"\b(má|může|bude|byl\w?|chce|mají|jsou|měl\w?)\b", r"ne\1", made, count=1)
        return (source, changed) if changed != made else None

    def untranslated_run(source: str, made: str, rng: random.Random) -> Texts | None:
        words, theirs = source.split(), made.split()
        if len(words) < 14 or len(theirs) < 14:
            return None
        start = rng.randrange(len(words) - 8)
        return source, " ".join([*theirs[:4], *words[start : start + 8], *theirs[10:]])

    def cut(source: str, made: str, rng: random.Random) -> Texts | None:
        return (source, made[: int(len(made) * rng.uniform(0.1, 0.35))]) if len(source) >= 60 else None

    def second_half(source: str, made: str, rng: random.Random) -> Texts | None:
        words, english = made.split(), source.split()
        if len(words) < 30:
            return None
        return source, " ".join([*words[: len(words) // 2], *english[len(english) // 2 :]])

    def looped(source: str, made: str, rng: random.Random) -> Texts | None:
        words = made.split()
        return (source, " ".join([*words[:6], *words[3:6] * rng.randint(3, 12)])) if len(words) >= 8 else None

    def inserted(item: str) -> Fault:
        def spoil(source: str, made: str, rng: random.Random) -> Texts | None:
            words = source.split()
            if len(words) < 3:
                return None
            place = rng.randrange(1, len(words))
            return " ".join([*words[:place], item, *words[place:]]), made

        return spoil

    def swapped(groups: list[list[str]]) -> Fault:
        def spoil(source: str, made: str, rng: random.Random) -> Texts | None:
            changed = _swap_forms(made, groups, rng)
            return None if changed is None else (source, changed)

        return spoil

    def person_gone(source: str, made: str, rng: random.Random) -> Texts | None:
        found = re.findall(r"(?<=[a-z,] )([A-Z][a-z]{2,}) ([A-Z][a-z]{3,})", source)
        kept = [full for full in found if full[0] in made and full[1] in made]
        if not kept:
            return None
        return source, made.replace(kept[0][0], "").replace(kept[0][1], "")

    def apart(source: str, made: str, rng: random.Random) -> Texts | None:
        near = [text for text in others if 0.8 < len(text) / len(made) < 1.25 and text != made]
        return (source, rng.choice(near)) if near and len(made.split()) >= 6 else None

    def elsewhere(source: str, made: str, rng: random.Random) -> Texts | None:
        text = third.pop() if third else ""
        return (source, text) if len(text) >= 40 else None

    talk = {
        "es": ("Lo siento, pero no puedo traducir este texto.", "Aquí está la traducción: "),
        "cs": ("Omlouvám se, ale tento text nemohu přeložit.", "Zde je překlad: "),
    }[pair.target.code]
    return {
        "number": [other_digit, lost_number],
        "negation": [without_no, with_no],
        "date": [swapped(months)],
        "unit": [swapped(units)],
        "name": [person_gone],
        "placeholder": [inserted(item) for item in ("{name}", "%s", "{{count}}", "${user}")],
        "tag": [inserted(item) for item in ("<b>", "<br/>", '<a href="#">')],
        "url": [inserted("https://example.org/a?b=1")],
        "email": [inserted("jane@example.org")],
        "symbol": [inserted(item) for item in EMOJI],
        "empty": [lambda source, made, rng: (source, "")],
        "copied": [lambda source, made, rng: (source, source) if len(source.split()) > 4 else None],
        "untranslated": [untranslated_run],
        "off-target": [elsewhere],
        "mixed": [second_half],
        "truncated": [cut],
        "runaway": [lambda source, made, rng: (source, " ".join([made, *rng.sample(others, 5)]))],
        "loop": [looped],
        "refusal": [
            lambda source, made, rng: (source, talk[0]),
            lambda source, made, rng: (source, "I'm sorry, but I cannot translate this text."),
        ],
        "comment": [
            lambda source, made, rng: (source, talk[1] + made),
            lambda source, made, rng: (source, f"Here is the translation: {made}"),
            lambda source, made, rng: (source, f"{made} (Note: the original is ambiguous here.)"),
        ],
        "script": [lambda source, made, rng: (source, f"{made[: len(made) // 2]}目前{made[len(made) // 2 :]}")],
        "detached": [apart],
    }


def _by_value(words: dict[str, str] | dict[str, int]) -> dict[str | int, list[str]]:
    found: dict[str | int, list[str]] = {}
    for word, value in words.items():
        found.setdefault(value, []).append(word)
    return found


def main(data: Path) -> None:
    """Print the share found per kind."""
    rng, engine = random.Random(7), Engine(quiet=True)
    count, own, some = Counter[str](), Counter[str](), Counter[str]()
    told: dict[str, list[Texts]] = {}
    for name in ("en-cs", "en-es"):
        with tarfile.open(data / "wmt24" / f"wmt24-{name}.tar.xz") as release:
            files = {
                key: content.read().decode("utf-8").split("\n")
                for key in (f"txt-ts/sources/{name}.txt", f"txt-ts/references/{name}.refA.txt")
                if (content := release.extractfile(key)) is not None
            }
        both = zip(*files.values(), strict=True)
        told[name] = [(source, made) for source, made in both if made and made != "NO TRANSLATION AVAILABLE"]
    for name, texts in told.items():
        pair = LanguagePair(name)
        cards = cards_for(pair.source, pair.target)
        third = [made for _, made in told["en-es" if name == "en-cs" else "en-cs"]][:400]
        for kind, ways in faults(pair, [made for _, made in texts], third).items():
            spoilt = [
                changed
                for number, (source, made) in enumerate(texts)
                if (changed := ways[number % len(ways)](source, made, rng)) is not None
            ]
            pairs = [Pair(*changed, pair.source, pair.target) for changed in spoilt]
            apart = {place for place, _ in detached_among(pairs, "vectors-multi", engine)} if kind == "detached" else ()
            for place, looked in enumerate(pairs):
                found = {card.kind for card in cards if card.function(looked) is not None}
                if place in apart:
                    found.add("detached")
                count[kind] += 1
                own[kind] += kind in found
                some[kind] += bool(found)
    print("| kind | faults | found | as any kind |\n| --- | --- | --- | --- |")
    for kind in sorted(DETECTORS.names()):
        if count[kind]:
            print(f"| `{kind}` | {count[kind]} | {own[kind] / count[kind]:.2f} | {some[kind] / count[kind]:.2f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

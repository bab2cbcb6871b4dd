"""How many failures does each detector find? Of faults put into good translations, and of failures found by reading.

    python scripts/failure_recall.py faults DATA  # DATA holds wmt24/
    python scripts/failure_recall.py read DATA    # what was missed in outputs that people read

Every fault is put into WMT24's reference translations (en-cs, en-es) wherever it can be: a number that changes a digit,
a negation that goes, the reference of another segment, half of the words in English. One line per kind: translations
with the fault, and the share of them that is flagged as that kind, or as any kind at all.

`read` takes the outputs that nothing flagged and a reader judged (`tests/failures/unflagged.tsv`), drawn at random
from systems and texts where failures are frequent, and estimates recall: flags times their precision, of these and
of what the share missed in the sample makes of all outputs without a flag. Intervals are those of that share.
"""

import csv
import random
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from babelquake.engine import Engine
from babelquake.failures import Pair, cards_for
from babelquake.failures.pair import words_of
from babelquake.languages import LanguagePair
from babelquake.stats.intervals import wilson
from babelquake.studies.detection import ANY, detached_among

Texts = tuple[str, str]
Fault = Callable[[str, str, random.Random], Texts | None]
"""A source and its reference, changed; None where the fault cannot be put in."""
TESTS = Path(__file__).parents[1] / "tests" / "failures"
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

    def lost_mark(source: str, made: str, rng: random.Random) -> Texts | None:
        decimals = re.finditer(r"(?<![\d.,:])([1-9]\d*)[.,](\d{1,2})(?![\d.,])", made)
        found = [match for match in decimals if f"{match[1]}.{match[2]}" in source]
        return (source, made[: found[0].end(1)] + made[found[0].start(2) :]) if found else None

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
        "number (its decimal mark)": [lost_mark],
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


SYSTEMS = {
    "pia": {
        "en-cs": "Claude-3.5 TSU-HITs CommandR-plus GPT-4 CUNI-GA CUNI-DocTransformer NVIDIA-NeMo Llama3-70B CUNI-MH",
        "en-es": "Dubformer Claude-3.5 CommandR-plus TSU-HITs Occiglot GPT-4 MSLC Llama3-70B Aya23",
    },
    "rocs-mt": {
        "en-cs": "TSU-HITs CUNI-DocTransformer CUNI-GA Llama3-70B Claude-3.5 SCIR-MT IKUN-C",
        "en-es": "TSU-HITs Claude-3.5 Occiglot Dubformer MSLC CommandR-plus Llama3-70B",
    },
    "cyclel": {"en-cs": "CycleL CycleL2", "en-es": "CycleL"},
    "numbers": {
        "en-cs": "TSU-HITs CUNI-GA IKUN-C SCIR-MT CUNI-MH ONLINE-G Aya23",
        "en-es": "TSU-HITs Occiglot MSLC Dubformer IKUN-C ONLINE-G Aya23",
    },
}
"""Whose outputs were drawn from, by stratum and language pair."""
QUESTIONS = 817
"""Of `pia`, before the first injection."""


def _lines(stratum: str, sources: list[str], documents: list[str]) -> list[int]:
    """The lines of a stratum: injections, raw and normalised comments, and texts of other suites with a number."""
    if stratum == "pia":
        return [line for line, name in enumerate(documents) if "_pia_" in name][QUESTIONS:]
    if stratum == "numbers":
        usual = [line for line, name in enumerate(documents) if "test-en" in name or "_speech_" in name]
        return [line for line in usual if len(sources[line]) < 700 and re.search(r"\d\d", sources[line])]
    version = "_rm-" if stratum == "rocs-mt" else "_nm-"
    return [line for line, name in enumerate(documents) if "_rocs-mt_" in name and version in name]


def _release(data: Path, name: str) -> dict[str, list[str]]:
    with tarfile.open(data / "wmt24" / f"wmt24-{name}.tar.xz") as release:
        return {
            Path(member.name).name: content.read().decode("utf-8").split("\n")
            for member in release
            if member.isfile() and (content := release.extractfile(member))
        }


def read(data: Path) -> None:
    """Print recall by stratum and kind, as far as reading can tell."""
    with (TESTS / "unflagged.tsv").open(encoding="utf-8", newline="") as file:
        sample = list(csv.DictReader(file, delimiter="\t"))
    missed: dict[str, Counter[str]] = {stratum: Counter() for stratum in SYSTEMS}
    flags: dict[str, Counter[str]] = {stratum: Counter() for stratum in SYSTEMS}
    count, silent, looked = Counter[str](), Counter[str](), Counter[str]()
    for name in ("en-cs", "en-es"):
        pair, release = LanguagePair(name), _release(data, name)
        sources, documents = release[f"{name}.txt"], release[f"{name}.docs"]
        cards = cards_for(pair.source, pair.target)
        for stratum, systems in SYSTEMS.items():
            judged = {
                (row["system"], int(row["line"])): [kind for kind in row["failures"].split(",") if kind]
                for row in sample
                if row["stratum"] == stratum and row["language_pair"] == name
            }
            for system in systems[name].split():
                for line in _lines(stratum, sources, documents):
                    looked_at = Pair(sources[line], release[f"{system}.txt"][line], pair.source, pair.target)
                    found = {card.kind for card in cards if card.function(looked_at) is not None}
                    count[stratum] += 1
                    flags[stratum].update(found or ())
                    flags[stratum][ANY] += bool(found)
                    silent[stratum] += not found
                    if not found and (system, line) in judged:
                        looked[stratum] += 1
                        known = [kind for kind in judged[system, line] if kind != "other"]
                        missed[stratum].update(known)
                        missed[stratum][ANY] += bool(known)
    print("| texts | kind | flagged | missed in the sample | recall |\n| --- | --- | --- | --- | --- |")
    for stratum in SYSTEMS:
        print(f"{stratum}: {count[stratum]} outputs, {silent[stratum]} not flagged, {looked[stratum]} of these read")
        for kind in sorted(set(missed[stratum]) | {kind for kind, n in flags[stratum].items() if n >= 100}):
            told = missed[stratum][kind], looked[stratum]
            low, high = wilson(*told)
            recall = [
                flags[stratum][kind] / max(1e-9, flags[stratum][kind] + share * silent[stratum])
                for share in (told[0] / told[1], high, low)
            ]
            shown = f"{recall[0]:.2f} [{recall[1]:.2f}, {recall[2]:.2f}]"
            print(f"| {stratum} | `{kind}` | {flags[stratum][kind]} | {told[0]} of {told[1]} | {shown} |")


def faults_found(data: Path) -> None:
    """Print the share found per kind of fault."""
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
                own[kind] += kind.partition(" ")[0] in found
                some[kind] += bool(found)
    print("| kind | faults | found | as any kind |\n| --- | --- | --- | --- |")
    for kind in sorted(count):
        if count[kind]:
            print(f"| `{kind}` | {count[kind]} | {own[kind] / count[kind]:.2f} | {some[kind] / count[kind]:.2f} |")


if __name__ == "__main__":
    {"faults": faults_found, "read": read}[sys.argv[1]](Path(sys.argv[2]))

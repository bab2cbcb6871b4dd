"""Make the lists of misspellings behind `natural-typo` from spelling rules and frequent words.

    python scripts/make_typos.py de --corpus train.de-en.tsv.xz --column 0 --words 6000
    python scripts/make_typos.py fr

What people get wrong is regular: doubled consonants, silent letters, endings that sound alike, accents left out,
letters typed in the wrong order. Each rule below is one such habit of one language; applied to a frequent word it gives
a misspelling, which is kept unless it is a word of the corpus itself. Words come from a corpus (counts only), or from
`scripts/typo_words`, where regular words are listed once and inflected by rule. What was written down by hand stands
above the line `MADE` of a list and stays.
"""

import argparse
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "src/babelquake/perturb/lexicon/natural-typos"
MADE = "# from here on: made by scripts/make_typos.py"
MOST = 3
"""Misspellings per word, each by another rule."""
TYPED = 1500
"""How many of the most frequent words are typed so often that fingers slip on them."""
SHORT = 120
"""How many of the most frequent words may have three letters."""
LEFT, RIGHT = set("qwertasdfgyxcvbzěščřžýáíé12345"), set("uiophjklnmzúůöäü67890")

Rule = tuple[str, str, float]
"""What is written, what people write instead, how often that happens relative to other habits."""
VOWELS = "aeiouyäöüáéíóúůýěàâèêëîïôûùœ"
COMMON: list[Rule] = [
    (r"(?<=\w)([bdfglmnprst])\1(?=\w)", r"\1", 4.0),
    (rf"(?<=[{VOWELS}])r(?=[^\W{VOWELS}]{{2}})", "", 1.0),
    (rf"(?<=[lnrs])([dgkpt])(?=[^\W{VOWELS}hrl]\w)", "", 1.0),
]
RULES: dict[str, list[Rule]] = {
    "de": [
        (r"(?<=[aeiouäöü])ß", "ss", 4.0),
        (r"(?<=[aeiouäöü])ss\b", "ß", 3.0),
        (r"ü", "u", 2.5),
        (r"ö", "o", 2.5),
        (r"(?<=\w)ä", "a", 1.5),
        (r"ü", "ue", 1.5),
        (r"ö", "oe", 1.5),
        (r"(?<=\w)ä(?=[^\Waeiouäöüu])", "e", 3.0),
        (r"äu", "eu", 3.0),
        (r"(?<=[aeouäöü])h(?=[lmnrt])", "", 3.5),
        (r"(?<=[aeiouäöü])h(?=e[nrt]?\b)", "", 2.0),
        (r"ie(?=[bdglmnrst]\w)", "i", 2.5),
        (r"(?<=\w{2}[^\Waeiouäöü])i(?=[lnr]e?\b)", "ie", 1.8),
        (r"(?<=[lnr])d\b", "t", 2.5),
        (r"(?<=en)d(?=lich)", "t", 4.0),
        (r"ig\b", "ich", 2.0),
        (r"(?<=\w{3})lich\b", "lig", 1.2),
        (r"(?<=[aeiou])tz", "z", 2.0),
        (r"ck(?=[et])", "k", 2.5),
        (r"(?<=[aeiou])k(?=[et]\w)", "ck", 0.8),
        (r"\bv(?=[eio])", "f", 1.0),
        (r"\bV(?=[eio])", "F", 1.0),
        (r"ph", "f", 2.5),
        (r"th", "t", 2.5),
        (r"rh", "r", 3.0),
        (r"(?<=ch)t\b", "", 1.5),
        (r"(?<=s)t\b", "", 1.2),
        (r"(?<=[aeou]h)e(?=n\b)", "", 1.2),
        (r"(?<=[aeäu]u)e(?=n\b)", "", 1.2),
        (r"(?<=\w{2}er)n\b", "", 0.8),
        (r"(?<=[^\Waeiouäöü][aeiou])([lmnt])(?=[aeiou]\w)", r"\1\1", 0.8),
        (r"(?<=i)s(?=tisch|mus)", "ss", 1.0),
        (r"tion", "zion", 1.0),
    ],
    "en": [
        (r"(?<=c)ei", "ie", 5.0),
        (r"(?<=[^c\W])ie(?=[^\Waeiouy]\w*)", "ei", 3.5),
        (r"able\b", "ible", 2.5),
        (r"ible\b", "able", 3.5),
        (r"ance\b", "ence", 3.0),
        (r"ence\b", "ance", 3.0),
        (r"ant\b", "ent", 2.5),
        (r"ent\b", "ant", 2.0),
        (r"(?<=\w{2}[^\Waeiouy])e(?=ly\b|ment\b)", "", 4.0),
        (r"(?<=\w{3})ally\b", "aly", 2.0),
        (r"(?<=\w{3}[^\Wl])ly\b", "lly", 1.0),
        (r"(?<=\w[^\Waeiou])a(?=[lnrt][aeio]\w)", "e", 2.0),
        (r"(?<=\w[^\Waeiou])e(?=[lnrt][aio]\w)", "a", 1.8),
        (r"(?<=\w[^\Waeiou])i(?=[lnrt][aeo]\w)", "e", 1.8),
        (r"(?<=\w[^\Waeiou])o(?=[lnrt][aei]\w)", "e", 1.2),
        (r"ght\b", "gth", 1.5),
        (r"ough", "ogh", 1.5),
        (r"augh", "agh", 1.5),
        (r"\bwh(?=[aei])", "w", 2.0),
        (r"(?<=\w)ph", "f", 1.5),
        (r"(?<=\w)dg(?=e)", "g", 2.0),
        (r"(?<=\w)sc(?=[ei])", "s", 3.0),
        (r"(?<=[^\Wcs])c(?=e\w|i\w)", "s", 1.5),
        (r"(?<=\w)s(?=ion\b)", "t", 0.6),
        (r"(?<=[aeou])us\b", "s", 1.0),
        (r"(?<=\w{2})ous\b", "us", 1.5),
        (r"(?<=\w{2}[^\Waeiouy])y(?=\w)", "i", 2.0),
        (r"(?<=\w{2}[^\Waeiouy])ies\b", "ys", 1.8),
        (r"(?<=\w{2})ful\b", "full", 3.0),
        (r"(?<=\w)n(?=ment\b)", "", 4.0),
        (r"n't\b", "nt", 5.0),
        (r"'(?=[a-z])", "", 3.0),
        (r"(?<=\w{2}[aeiou])([lmnprt])(?=(?:ed|ing|er|en)\b)", r"\1\1", 1.5),
        (r"(?<=\w)mb\b", "m", 2.0),
        (r"(?<=\w{2})or\b", "er", 1.2),
        (r"(?<=\w{3})er\b", "or", 0.6),
        (r"(?<=\w)h(?=[aeiou]\w)", "", 0.4),
    ],
    "fr": [
        (r"é(?=\w)", "e", 3.5),
        (r"(?<=\w{2})é\b", "er", 3.0),
        (r"(?<=\w{2})é\b", "e", 2.0),
        (r"è", "e", 3.0),
        (r"è", "é", 3.0),
        (r"ê", "e", 3.0),
        (r"[âà](?=\w)", "a", 3.0),
        (r"ô", "o", 3.5),
        (r"û", "u", 3.5),
        (r"[îï]", "i", 3.5),
        (r"ç", "c", 3.5),
        (r"ç", "ss", 1.0),
        (r"œ", "oe", 4.0),
        (r"(?<=\w{2})er\b", "é", 3.0),
        (r"(?<=\w{2})ait\b", "ai", 2.5),
        (r"(?<=\w{2})aient\b", "ait", 3.0),
        (r"(?<=\w{3})s\b", "", 2.0),
        (r"(?<=eu)x\b", "", 3.0),
        (r"(?<=eau)x\b", "", 3.0),
        (r"(?<=\w[iué])e\b", "", 2.0),
        (r"(?<=\w{2}[lnrt])e\b", "", 0.7),
        (r"emment\b", "ament", 4.0),
        (r"amment\b", "ament", 4.0),
        (r"ph", "f", 2.5),
        (r"th", "t", 2.5),
        (r"rh", "r", 3.0),
        (r"\bh(?=[aeiouyé])", "", 1.5),
        (r"eau", "au", 1.5),
        (r"(?<=[^\Waeiouéè])en(?=[cdt][^\W]{2})", "an", 2.0),
        (r"(?<=[^\Waeiouéè])an(?=[cdg]\w)", "en", 2.0),
        (r"qu(?=[aeio]\w)", "q", 1.0),
        (r"(?<=[aeio])ss(?=[aeio])", "s", 1.5),
        (r"y(?=[^\Waeiou])", "i", 2.0),
        (r"(?<=[aeo])c(?=e\w|i\w)", "s", 1.2),
        (r"(?<=[^\Waeiou][aeio])([lmnt])(?=[aeioé]\w)", r"\1\1", 0.8),
        (r"(?<=gu)e\b", "", 1.0),
        (r"-(?=être)", " ", 0.0),
        (r"'(?=\w)", "", 1.5),
    ],
    "es": [
        (r"á", "a", 4.0),
        (r"é", "e", 4.0),
        (r"í", "i", 4.0),
        (r"ó", "o", 4.0),
        (r"ú", "u", 4.0),
        (r"ü", "u", 4.0),
        (r"ñ", "n", 2.0),
        (r"v", "b", 3.0),
        (r"b(?=[aeiou])", "v", 3.0),
        (r"\bh", "", 3.5),
        (r"\b(?=ue)", "h", 2.0),
        (r"ll", "y", 2.5),
        (r"(?<=[aeo])y(?=[aeo])", "ll", 2.5),
        (r"g(?=[ei])", "j", 3.0),
        (r"j(?=[ei])", "g", 3.0),
        (r"ción", "sión", 2.0),
        (r"ción", "cion", 3.0),
        (r"c(?=[ei])", "s", 2.0),
        (r"z(?=[aou])", "s", 2.0),
        (r"x(?=[^\Waeiou])", "s", 2.5),
        (r"sc(?=[ei])", "c", 3.0),
        (r"m(?=[bp])", "n", 1.5),
        (r"(?<=[aeiou])d(?=o\b)", "", 1.0),
        (r"rr", "r", 2.5),
        (r"cc(?=i)", "c", 3.0),
        (r"(?<=[aeiou])d\b", "", 1.5),
        (r"qu(?=[ei])", "k", 1.0),
        (r"ei", "ey", 0.5),
    ],
    "cs": [
        (r"(?<=[bflmpsvz])y", "i", 4.0),
        (r"(?<=[bflmpsvz])ý", "í", 4.0),
        (r"(?<=[bflmpsvz])i", "y", 2.5),
        (r"(?<=[bflmpsvz])í", "ý", 2.0),
        (r"ů", "ú", 3.0),
        (r"ů", "u", 3.5),
        (r"\bú", "ů", 1.5),
        (r"ú", "u", 2.5),
        (r"í", "i", 3.5),
        (r"á", "a", 3.5),
        (r"é", "e", 3.5),
        (r"ý", "y", 3.5),
        (r"ě", "e", 3.0),
        (r"š", "s", 2.5),
        (r"č", "c", 2.5),
        (r"ř", "r", 2.5),
        (r"ž", "z", 2.5),
        (r"ď", "d", 3.0),
        (r"ť", "t", 3.0),
        (r"ň", "n", 2.5),
        (r"mě", "mně", 2.5),
        (r"mně", "mě", 3.5),
        (r"bě", "bje", 1.5),
        (r"vě", "vje", 1.5),
        (r"pě", "pje", 1.5),
        (r"(?<=[dt])ě", "e", 1.0),
        (r"\bz(?=[kpt])", "s", 2.5),
        (r"\bs(?=[bdhmlv])", "z", 1.0),
        (r"(?<=\w)d\b", "t", 2.0),
        (r"(?<=\w)ž\b", "š", 2.0),
        (r"(?<=\w)v\b", "f", 1.0),
        (r"nn", "n", 3.0),
        (r"(?<=[aeiou])n(?=[ýáé]\b)", "nn", 1.2),
        (r"jsem", "sem", 4.0),
        (r"jsme", "sme", 4.0),
        (r"jsou", "sou", 4.0),
        (r"(?<=[aou])dn", "n", 0.6),
        (r"ctv", "ctf", 0.3),
        (r"dc", "c", 1.5),
        (r"ts", "c", 0.8),
    ],
}
FORMS: dict[str, dict[str, tuple[str, str]]] = {
    "fr": {
        "er": (
            "er é ée és ées erait eraient era eront ez",
            "e es ent ai as a âmes èrent erai eras erons erez erais ons ions iez",
        ),
        "ité": ("ité ités", ""),
    },
    "es": {
        "ar": (
            "ar aba aban ábamos ó ará arán aría arían aron ando ado ada",
            "o as a amos an e es en emos ara aras aran are é aste aré arás aremos arías abas ados adas",
        ),
        "ción": ("ción ciones", ""),
    },
    "cs": {"ovat": ("ovat oval ovala ovali ovaly ováno ování uje ují ujeme", "uji uješ ujete ovaná ovaný ované")},
}
"""Endings of regular words, by the ending in `typo_words/*-stems.txt`: those listed, and words that no typo may be."""
CHANGING = re.compile(r"e[^\Waeiouyéè]er$")
"""French verbs whose vowel changes before some endings (mener, mène): only the form that is given."""
ENOUGH = 1.0
"""Habits rarer than this, and letters in the wrong order: only where a very frequent word invites no other."""


def misspelt(word: str, lang: str) -> Iterator[tuple[str, float, str]]:
    """What people write for a word, with weight and rule."""
    for pattern, instead, weight in [*RULES[lang], *COMMON]:
        for found in re.finditer(pattern, word):
            yield word[: found.start()] + found.expand(instead) + word[found.end() :], weight, f"{pattern}>{instead}"
    if lang != "cs":
        for typo in _transposed(word):
            yield typo, 0.5, "transposed"


def _transposed(word: str) -> Iterator[str]:
    """Two neighbours in the wrong order, where one hand overtakes the other; of three letters the last two."""
    low = word.lower()
    if len(word) == 3:
        yield from [word[0] + word[2] + word[1]] * (word[1] != word[2])
        return
    swaps = []
    for place in range(1, len(word) - 1):
        pair, around = set(low[place : place + 2]), low[max(0, place - 1) : place + 3]
        if len(pair) == 2 and pair & LEFT and pair & RIGHT and len(set(around)) == len(around):
            swaps.append(place)
    if swaps:
        place = min(swaps, key=lambda at: abs(at + 1 - len(word) / 2))
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def chosen(word: str, lang: str, words: Counter[str], rank: int) -> list[str]:
    """The likeliest misspellings of a word, each by another rule, none of them a word."""
    found: list[str] = []
    used: set[str] = set()
    if len(word) == 3 and (rank >= SHORT or not words.total() > 100_000):
        return []
    for typo, weight, rule in sorted(misspelt(word, lang), key=lambda one: -one[1]):
        clash = words[typo] + words[typo.lower()] + words[typo.capitalize()]
        new = rule not in used and typo not in found and typo != word
        likely = weight >= ENOUGH or (not found and rank < TYPED)
        if new and weight and not clash and " " not in typo and likely:
            found.append(typo)
            used.add(rule)
    return found[: 1 if len(word) == 3 else MOST]


def counted(corpus: Path, column: int) -> Counter[str]:
    """How often each word is written, in the form that is written most."""
    counts: Counter[str] = Counter()
    with (
        lzma.open(corpus, "rt", encoding="utf-8") if corpus.suffix == ".xz" else corpus.open(encoding="utf-8") as lines
    ):
        for number, line in enumerate(lines):
            if number % 3 == 0:
                counts.update(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", line.rstrip("\n").split("\t")[column]))
    return counts


def frequent(counts: Counter[str], lang: str, most: int) -> list[str]:
    """The most frequent words, no names: in German the commoner spelling of a word, elsewhere those in lower case."""
    found = []
    for word, count in counts.most_common():
        lower = counts[word.lower()] if word != word.lower() else counts[word.capitalize()]
        usual = count > lower if lang == "de" else word == word.lower() and count > lower
        if usual and len(word) > 2 and not word.isupper():
            found.append(word)
        if len(found) == most:
            break
    return found


def inflected(lang: str, place: int) -> Iterator[str]:
    """The forms of regular words, by kind: `ité: activ` is activité and activités; `place` 1 gives those not listed."""
    file = ROOT / "scripts/typo_words" / f"{lang}-stems.txt"
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        kind, _, words = line.partition(": ")
        for word in words.split() if not line.startswith("#") else ():
            if lang == "fr" and CHANGING.search(word):
                yield word
            else:
                yield from (word.removesuffix(kind) + ending for ending in FORMS[lang][kind][place].split())


def main() -> None:
    """Write one list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("lang", choices=sorted(RULES))
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--column", type=int, default=0)
    parser.add_argument("--words", type=int, default=6000)
    given = parser.parse_args()
    if given.corpus:
        counts = counted(given.corpus, given.column)
        counts = Counter({word: count for word, count in counts.items() if count > 2})
        words = frequent(counts, given.lang, given.words)
    else:
        own = (ROOT / "scripts/typo_words" / f"{given.lang}.txt").read_text("utf-8").splitlines()
        words = list(dict.fromkeys(word for line in own if not line.startswith("#") for word in line.split()))
        words = list(dict.fromkeys([*words, *inflected(given.lang, 0)]))
        counts = Counter([*words, *inflected(given.lang, 1)])
    target = LISTS / f"{given.lang}.txt"
    by_hand = target.read_text("utf-8").partition(MADE)[0].rstrip("\n") if target.exists() else ""
    known = {line.split()[0] for line in by_hand.splitlines() if line and not line.startswith("#")}
    counts.update(known)
    lines = [by_hand] if by_hand else []
    lines.append(MADE)
    for rank, word in enumerate(words):
        if word not in known and (typos := chosen(word, given.lang, counts, rank)):
            lines.append(" ".join([word, *typos]))
    target.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{target.name}: {len(lines) - 2 + len(known)} words")


if __name__ == "__main__":
    main()

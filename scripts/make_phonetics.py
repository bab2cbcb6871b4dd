"""Learn where a respelling keeps the sound: `xz -dc text.xz | python scripts/make_phonetics.py en`.

For each language, `SWAPS` lists letter sequences that may stand for one another. Every swap is tried at every place of
the 20,000 most frequent words of the text on standard input, and eSpeak NG says whether the word still sounds the same
(stress and length aside). A swap is kept for a context of one letter on each side, or two where one is too few, when it
left the sound alone in at least `PURITY` of the words that have the context; the commonest words may be their own
context. Contexts are kept, no pronunciation is stored.
Needs the shared library of eSpeak NG.
"""

import ctypes
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

WORDS = 20_000
PURITY = 0.97
FEWEST = {1: 4, 2: 3}
"""How many words must show a context of that width."""
COMMON = 3_000
"""For this many words at the top of the list, the whole word may be the context."""
LEXICON = Path(__file__).resolve().parents[1] / "src" / "babelquake" / "perturb" / "lexicon" / "phonetics"
DOUBLED = "b>bb d>dd f>ff g>gg k>kk l>ll m>mm n>nn p>pp r>rr s>ss t>tt z>zz"
SINGLED = "bb>b cc>c dd>d ff>f gg>g ll>l mm>m nn>n pp>p rr>r ss>s tt>t zz>z"
SWAPS = {
    "en": f"""{DOUBLED} {SINGLED} f>ph ph>f c>k k>c c>ck ck>k k>ck ck>kk c>s s>c ss>c s>ss c>ss s>z z>s x>ks x>cks
        qu>kw qu>qw ee>ea ea>ee ee>ie ie>ee e>ee ee>e ea>e e>ea ei>ee ie>ea ai>ay ay>ai ai>ei ei>ai ay>ey ey>ay a>ai
        ai>a ow>ou ou>ow au>aw aw>au o>au au>o oo>u u>oo oo>ou ou>oo ew>oo oo>ew ew>ue ue>ew oa>o o>oa o>oe oe>o o>oh
        ow>o o>ow i>y y>i y>ie ie>y y>ey ey>y y>ee i>e e>i a>e e>a o>u u>o a>u u>a er>ur ur>er ir>er er>ir or>er
        er>or ar>er er>ar our>or or>our ore>oar oar>ore tion>shun tion>tian tion>cion sion>tion sion>zhun cian>tian
        ti>sh ci>sh ch>tch tch>ch dge>ge ge>dge ge>je g>j j>g gi>ji gh> igh>ie igh>y ough>off kn>n n>kn wr>r r>wr
        gn>n n>gn mb>m m>mb wh>w w>wh h> rh>r r>rh ps>s sc>s s>sc th>the v>ve ve>v e> l>le le>el el>le al>el
        el>al il>el en>an an>en ent>ant ant>ent ence>ance ance>ence ible>able able>ible ous>us us>ous ed>d ed>t
        d>de n>ne m>me t>te l>le s>se z>ze st>ste ate>ait ake>aik ine>ign ite>ight ight>ite ame>aim ail>ale
        ale>ail ain>ane ane>ain ade>aid aid>ade ea>ei y>igh a>ah o>aw ah>a u>uh i>ih e>eh f>v v>f e>u e>uh
        o>ue o>ou a>aa nd>nde i>ie r>re or>oor or>awr ee>i
        th>tth ew>u ew>eu ew>yoo u>ew u>yoo w>u ey>ei ey>ai ey>eigh ay>eigh eigh>ay
        one>wun of>uv of>ov was>wuz now>nau now>nou ome>um al>awl al>aul all>awl""",
    "de": f"""{DOUBLED} {SINGLED} f>v v>f v>w w>v f>ph ph>f c>k k>c ck>k k>ck ck>kk qu>kw x>ks x>chs chs>x ks>x z>tz
        tz>z z>ts ts>z ß>ss ss>ß s>ß ä>e e>ä eu>äu äu>eu äu>oi eu>oi ei>ai ai>ei ei>ay ie>i i>ie ie>ih ih>ie ah>a a>ah
        aa>ah ah>aa eh>e e>eh ee>eh eh>ee oh>o o>oh oo>oh uh>u u>uh üh>ü ü>üh öh>ö ö>öh äh>ä ä>äh y>ü ü>y i>y y>i
        t>th th>t d>t t>d dt>t t>dt d>dt b>p p>b g>k k>g tion>zion zion>tion sch>sh st>scht sp>schp r>rh rh>r h>
        j>y c>z j>i""",
    "fr": f"""{DOUBLED} {SINGLED} f>ph ph>f c>k k>c qu>k k>qu c>qu qu>c c>s s>c ss>c c>ss ç>ss ss>ç ç>s s>ss sc>s s>z
        z>s g>j j>g ge>j j>ge gu>g y>i i>y h> th>t t>th rh>r r>rh ch>k x>ks x>gz é>ée ée>é é>er er>é é>ez ez>er er>ez
        è>ê ê>è ai>è è>ai ai>ê ei>ai ai>ei et>ai ais>ait ait>ais ais>aient aient>ait au>o o>au eau>au au>eau eau>o
        ô>o o>ô ô>au an>en en>an em>am am>em ain>in in>ain ein>in in>ein im>in in>im ou>oû oû>ou u>û û>u eu>oeu œ>oe
        ti>si si>ti tion>sion sion>tion s> t> d> e> x>s s>x es>e e>es ent>e oi>oie oie>oi ill>y y>ill î>i i>î â>a a>â
        ë>e ï>i w>v""",
}
VOICES = {"en": "en-us"}
LOOSE = str.maketrans({"ˈ": "", "ˌ": "", "ː": "", "ʌ": "ə", "ɐ": "ə", "ᵻ": "ɪ"})


class Speaker:
    """Words to phonemes by eSpeak NG."""

    def __init__(self, voice: str) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.library.espeak_Initialize(2, 0, None, 0)
        self.library.espeak_SetVoiceByName(voice.encode())
        self.library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self.known: dict[str, str] = {}

    def sound(self, word: str) -> str:
        """IPA without stress and length; the weak vowels ə ʌ ɐ count as one, and so do ɪ and ᵻ."""
        if word not in self.known:
            text = ctypes.pointer(ctypes.c_char_p(word.encode()))
            spoken: bytes = self.library.espeak_TextToPhonemes(text, 1, 2) or b""
            self.known[word] = spoken.decode().translate(LOOSE)
        return self.known[word]


def learn(lang: str, words: list[str]) -> dict[tuple[str, str, str], list[str]]:
    """(left context, letters, right context) → the letters that may replace them."""
    speaker = Speaker(VOICES.get(lang, lang))
    swaps = [tuple(swap.split(">")) for swap in dict.fromkeys(SWAPS[lang].split())]
    tried: dict[int, dict[tuple[str, str, str, str], list[int]]] = {1: defaultdict(lambda: [0, 0])}
    tried[2] = defaultdict(lambda: [0, 0])
    whole: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for rank, word in enumerate(words):
        sound, framed = speaker.sound(word), f"^^{word}$$"
        for old, new in swaps:
            for found in re.finditer(f"(?={old})", word):
                start, end = found.start(), found.start() + len(old)
                same = speaker.sound(word[:start] + new + word[end:]) == sound
                if same and rank < COMMON:
                    whole["^" + word[:start], old, word[end:] + "$"].append(new)
                for width, counts in tried.items():
                    left, right = framed[start + 2 - width : start + 2], framed[end + 2 : end + 2 + width]
                    counts[left, old, right, new][0] += same
                    counts[left, old, right, new][1] += 1
    kept: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    narrow = {key for key, (good, all_) in tried[1].items() if all_ >= FEWEST[1] and good >= PURITY * all_}
    for left, old, right, new in sorted(narrow):
        kept[left, old, right].append(new)
    for (left, old, right, new), (good, all_) in sorted(tried[2].items()):
        if (left[-1], old, right[0], new) not in narrow and all_ >= FEWEST[2] and good == all_:
            kept[left, old, right].append(new)
    for (left, old, right), news in whole.items():
        near = {*kept.get((left[-1], old, right[0]), ()), *kept.get((("^" + left)[-2:], old, (right + "$")[:2]), ())}
        if missed := [new for new in news if new not in near]:
            kept[left, old, right] += [new for new in missed if new not in kept[left, old, right]]
    return kept


def main(lang: str) -> None:
    """Read text, learn, write the table of one language."""
    counts: Counter[str] = Counter()
    for line in sys.stdin:
        counts.update(re.findall(r"[^\W\d_]+", line.lower()))
    kept = learn(lang, [word for word, _ in counts.most_common(WORDS)])
    head = f"# left letters right replacements; ^ and $ are the word's ends (made by scripts/make_phonetics.py {lang})"
    rows = [
        "\t".join((left, old, right, " ".join(new or "_" for new in news))) for (left, old, right), news in kept.items()
    ]
    LEXICON.mkdir(exist_ok=True)
    (LEXICON / f"{lang}.tsv").write_text("\n".join([head, *sorted(rows)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

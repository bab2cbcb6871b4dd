"""The segments on which every neural scorer is held against its official implementation.

Sentences in many languages and scripts, changed as MT output is wrong – words dropped, doubled, swapped, cut – and the
cases that break tokenizers: nothing at all, blanks, emoji, right-to-left text, marks of the tokenizers themselves,
texts far beyond any encoder's length.
"""

import random
from dataclasses import dataclass

SENTENCES = [
    ("Der Hund schläft im Garten.", "The dog is sleeping in the garden."),
    ("Morgen regnet es vielleicht, sagte sie.", "It may rain tomorrow, she said."),
    ("Wir haben 12,5 Millionen Euro verloren!", "We lost 12.5 million euros!"),
    ("La réunion est reportée à jeudi.", "The meeting is postponed until Thursday."),
    ("¿Dónde está la biblioteca municipal?", "Where is the public library?"),
    ("Поезд опоздал на три часа.", "The train was three hours late."),
    ("Она не хочет об этом говорить.", "She does not want to talk about it."),
    ("今日はとても寒いですね。", "It is very cold today, isn't it?"),
    ("他昨天买了一本新书。", "He bought a new book yesterday."),
    ("오늘 저녁에 뭐 먹을까요?", "What shall we eat tonight?"),
    ("أين أقرب محطة قطار؟", "Where is the nearest railway station?"),
    ("המכתב הגיע אתמול בערב.", "The letter arrived last night."),
    ("यह किताब बहुत अच्छी है।", "This book is very good."),
    ("ฉันชอบกินข้าวผัด", "I like to eat fried rice."),
    ("Μίλησε για δύο ώρες χωρίς διακοπή.", "He spoke for two hours without a break."),
    ("Bu sabah erkenden işe gittim.", "I went to work early this morning."),
    ("Ta neatsakė į mano klausimą.", "That did not answer my question."),
    ("იგი თბილისში ცხოვრობს.", "She lives in Tbilisi."),
    ("Ես չեմ հասկանում։", "I do not understand."),
    ("மழை பெய்கிறது.", "It is raining."),
]
EDGES = [
    ("", "", ""),
    ("Nichts.", "", "Nothing."),
    ("", "Nothing.", "Nothing."),
    ("Nichts.", "Nothing.", ""),
    ("   ", "\t \n", " "),
    ("Toll! 🎉🎉", "Great! 🎉🎉", "Great! 🎉"),
    ("👩‍👩‍👧‍👦🏳️‍🌈", "👩‍👩‍👧‍👦", "a family 🏳️‍🌈"),
    ("שלום עולם 123 abc", "שלום עולם", "Hello world 123 abc"),
    ("مرحبا\u202eabc\u202c", "Hello \u200fworld", "Hello world"),
    ("Das <mask> ist <s> ein </s> Test.", "This <pad> is </s> a <unk> test.", "This is a [SEP] test [MASK]."),
    ("<b>fett</b> &amp; kursiv", "<b>bold</b> &amp; italic", "bold & italic"),
    ("ﬁne ﬂower ｆｕｌｌ", "fine flower full", "ﬁne ﬂower ｆｕｌｌ"),
    ("e\u0301te\u0301", "été", "summer"),
    ("\u00a0gesch\u00fctzt\u00a0", "protected\u2009thin", "protected"),
    ("a" * 3000, "b" * 2500, "c" * 50),
    ("Zero\u200bwidth\u200djoiner\ufeff", "zero width", "zero-width joiner"),
]
SEED = 20231


@dataclass(frozen=True)
class Segment:
    """One row of the parity set."""

    source: str
    translation: str
    reference: str


def segments() -> list[Segment]:
    """240 segments, the same on every machine."""
    rng = random.Random(SEED)
    found = [Segment(*edge) for edge in EDGES]
    for factor in (8, 40, 90):
        for source, reference in SENTENCES[:6]:
            found.append(Segment(" ".join([source] * factor), " ".join([reference] * (factor - 2)), reference * 3))
            found.append(Segment(source, " ".join([reference] * factor), " ".join([reference] * factor)))
    while len(found) < 240:
        source, reference = rng.choice(SENTENCES)
        words = reference.split()
        change = rng.randrange(6)
        at = rng.randrange(len(words))
        if change == 0:
            del words[at]
        elif change == 1:
            words.insert(at, words[at])
        elif change == 2:
            words[at] = words[at].upper()
        elif change == 3:
            words = words[: at + 1]
        elif change == 4:
            rng.shuffle(words)
        else:
            words[at] = rng.choice(rng.choice(SENTENCES)[1].split())
        found.append(Segment(source, " ".join(words), reference if rng.random() < 0.8 else rng.choice(SENTENCES)[1]))
    return found

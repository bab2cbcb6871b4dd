"""Segments on which our scorers are compared with the official ones: real sentences, and awkward ones of every kind."""

AWKWARD = [
    "",
    " ",
    ".",
    "a",
    "A",
    "The cat sat on the mat.",
    "  spaces at both ends  ",
    "the cat the cat the cat on the mat the cat",
    "No. 1,000.5 costs $3-4 &amp; <skipped> &quot;more&quot;, he said...",
    "a line-\nbreak\tand a tab",
    "l'été à Noël, naïve cœur",
    "e\u0301te\u0301 n\u0303",
    "猫はマットの上に座った。",
    "猫坐在垫子上，很开心！",
    "고양이가 매트 위에 앉았다.",
    "جلست القطة على السجادة، أليس كذلك؟",
    "שלום עולם, מה שלומך?",
    "बिल्ली चटाई पर बैठी।",
    "👩‍👩‍👧 likes 🐈‍⬛!!! 🇩🇪",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ.",
    "İstanbul ISPARTA",
    "\u00a0no\u00a0break\u3000ideographic\u2028line",
    "[SEP] [CLS] </s> <s> <pad> words that look special",
    "supercalifragilisticexpialidocious" * 6,
    "a very long text that goes on and on, " * 90,
    "ＴＨＥ ｆｕｌｌ ｗｉｄｔｈ",
]


def segments() -> tuple[list[str], list[str], list[str]]:
    """Translations, references and sources: the bundled rated sample, then every awkward text in three roles."""
    from babelquake.data import read

    rated = read("sample:rated").segments.head(160)
    translations = rated["translation"].to_list()
    references = [some[0] for some in rated["references"].to_list()]
    sources = rated["source"].to_list()
    for place, text in enumerate(AWKWARD):
        sentence = references[place]
        translations += [text, sentence, text]
        references += [sentence, text, AWKWARD[(place + 1) % len(AWKWARD)]]
        sources += [sources[place], text, text]
    return translations, references, sources

"""`truecase`, `spell` and `final-mark`: sources get back what was meant, and clean ones stay."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import babelquake as bq
from babelquake.errors import UserError

pytest.importorskip("symspellpy", reason="needs the extra spell")
pytest.importorskip("spellchecker", reason="needs the extra spell")
GERMAN = "Die Kommission hat dem Parlament in Straßburg einen neuen Vorschlag über die Fischerei vorgelegt."
ENGLISH = "The Commission presented a new proposal on fisheries to the European Parliament in Strasbourg."


@pytest.mark.parametrize(("lang", "text"), [("de", GERMAN), ("en", ENGLISH)])
@pytest.mark.parametrize("style", [str.upper, str.lower, str.title, str])
def test_case_comes_back(lang: str, text: str, style: type) -> None:
    (found,) = bq.defence("truecase", lang=lang).apply([style(text)])
    assert found == text


def test_acronyms_titles_and_short_labels_keep_their_case() -> None:
    texts = ["Die EU und die NATO haben das WTO-Abkommen.", "ACHTUNG", "ja, gerne", "Der Bundeskanzler"]
    assert bq.defence("truecase", lang="de").apply(texts) == texts


@pytest.mark.slow
def test_typos_of_usual_words_are_corrected() -> None:
    texts = ["Das ist wihctig fur die Kommision.", "Wir mussen das morgen entscheiden udn dann handeln."]
    assert bq.defence("spell", lang="de").apply(texts) == [
        "Das ist wichtig für die Kommission.",
        "Wir müssen das morgen entscheiden und dann handeln.",
    ]
    assert bq.defence("spell", lang="en").apply(["This is vrey improtant for the goverment."]) == [
        "This is very important for the government."
    ]


@pytest.mark.slow
def test_names_compounds_addresses_and_other_languages_are_left_alone() -> None:
    texts = [
        "Herr Leuven und Frau Jessen trafen Veit.",
        "Die Donaudampfschifffahrtsgesellschaft prüft den Fischereiausschussbericht.",
        "Siehe hhttp_docs/readme.txt, @nutzerr und #hastag, {nmae} und Version3b.",
        "Zdá se, že tohle je úplně jiný jazyk.",
    ]
    assert bq.defence("spell", lang="de").apply(texts) == texts


def test_clean_sentences_stay_as_they_are_and_typos_go(shared_data: Path) -> None:
    """Sentences that nothing was tuned on: 95 % untouched, most typos corrected."""
    lines = (shared_data / "europarl/test.de-en.tsv").read_text("utf-8").splitlines()[1500:1800]
    clean = [line.split("\t")[0] for line in lines]
    spell = bq.defence("spell", lang="de")
    assert sum(a == b for a, b in zip(clean, spell.apply(clean), strict=True)) >= 0.95 * len(clean)
    typos = [str(text) for text in bq.perturb("misspell", clean, lang="de", level=0.1, seed=5)]
    wrong = sum(a != b for x, y in zip(clean, typos, strict=True) for a, b in zip(x.split(), y.split(), strict=True))
    left = sum(
        a != b
        for x, y in zip(clean, spell.apply(typos), strict=True)
        for a, b in zip(x.split(), y.split(), strict=True)
    )
    assert left < 0.4 * wrong


class Reader:
    """A language model that expects certain words, and counts how often it was asked."""

    signature = "reader"

    def __init__(self, expects: Sequence[str]) -> None:
        self.expects, self.asked = expects, 0

    def log_probabilities(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += 1
        return [[-1.0 if word in self.expects else -9.0 for word in text.split()] for text in texts]


@pytest.mark.slow
def test_a_language_model_chooses_where_frequency_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bied` may be bed or bird, which are as frequent; `{nwe}` is machinery; to this model `vrey` is a name."""
    texts = ["The bied sang in the {nwe} tree.", "", "It was made by vrey yesterday.", "Nothing is wrong here."]
    reader = Reader(("bird", "vrey"))
    monkeypatch.setattr("babelquake.models.causal", lambda name: reader)
    found = bq.defence("spell[model=reader]", lang="en").apply(texts)
    assert found == ["The bird sang in the {nwe} tree.", *texts[1:]]
    assert reader.asked == 2  # for all texts, and once more to see that their order does not matter
    assert bq.defence("spell", lang="en").apply(texts) == [texts[0], "", "It was made by very yesterday.", texts[3]]


def test_a_list_of_your_own_serves_any_language(tmp_path: Path) -> None:
    words = tmp_path / "cs.tsv"
    words.write_text("".join(f"{word}\t{count}\n" for word, count in [("dobrý", 900), ("den", 800), ("Praha", 90)]))
    assert bq.defence(f"spell[list={words}]", lang="cs").apply(["dobrý dne Praha"]) == ["dobrý den Praha"]
    assert bq.defence(f"truecase[list={words}]", lang="cs").apply(["DOBRÝ DEN PRAHA"]) == ["Dobrý den Praha"]
    words.write_text("no count\n")
    with pytest.raises(UserError, match=r"cs\.tsv line 1"):
        bq.defence(f"spell[list={words}]", lang="cs")


@pytest.mark.parametrize(("name", "lang", "served"), [("spell", "ja", "ar, de, en"), ("truecase", "fr", "de, en")])
def test_a_language_that_is_not_served_is_refused_with_those_that_are(name: str, lang: str, served: str) -> None:
    with pytest.raises(UserError, match=served):
        bq.defence(name, lang=lang)
    with pytest.raises(UserError, match="name it"):
        bq.defence(name)


def test_a_final_mark_is_added_for_the_system_and_taken_off_the_translation() -> None:
    seen: list[str] = []

    def translate(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return [text.upper() for text in texts]

    from babelquake.systems.defended import behind

    made = behind(bq.system(translate, "de-en"), "final-mark")
    assert made.translate(["das ist ein Satz", "Ist das einer?", "Ein Titel"]) == [
        "DAS IST EIN SATZ",
        "IST DAS EINER?",
        "EIN TITEL",
    ]
    assert seen == ["das ist ein Satz.", "Ist das einer?", "Ein Titel"]
    assert bq.defence("final-mark", lang="hi").apply(["यह एक वाक्य है"]) == ["यह एक वाक्य है।"]

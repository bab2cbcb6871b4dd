"""`fold` undoes look-alikes, invisible characters and odd spaces, and leaves every script as it is."""

import io
import tarfile
import unicodedata
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import babelquake as bq

SENTENCES = {
    "de": "Die Kommission hat gestern einen neuen Vorschlag für den Binnenmarkt vorgelegt.",
    "en": "The committee adopted a new proposal for the common market yesterday.",
    "ru": "Комиссия вчера представила новое предложение о едином рынке, и оно понравилось всем.",
    "el": "Η Επιτροπή παρουσίασε χθες μια νέα πρόταση για την ενιαία αγορά, και το Κοινοβούλιο την εξέτασε.",
}
NEEDED = {
    "ar": "قال المتحدث إنّ «الاتفاق» سيُوقَّع غدًا، وهل هذا صحيح؟",
    "fa": "می‌خواهم به خانه بروم و کتاب‌ها را بخوانم.",
    "hi": "क़ानून के अनुसार यह ज़रूरी है। क्‍या आप जानते हैं?",
    "si": "ශ්‍රී ලංකාව දූපතකි.",
    "th": "วันนี้อากาศดีมาก เราไปเที่ยวกันเถอะ",
    "ja": "東京で「ＡＢＣ」という会社が３年前に始まった――本当ですか？",
    "ko": "오늘은 날씨가 좋습니다. 산책하러 갈까요?",
    "he": "הממשלה אישרה את התקציב, נכון?",
    "vi": "Hôm nay trời đẹp, chúng ta đi chơi nhé.",
    "fr": "Vous dites : « C’est vrai ! » – 25 000 fois ?",
    "pl": "Mieszkam w Warszawie od 20 lat.",
    "is": "Þátttaka í þátttökunni var góð.",
    "ro": "Toți copiii și copiilor le place.",
    "en": "Emoji stay: 👩‍💻 🤷🏽‍♀️ ☀️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 and so do α-helix, Москва, {name} and `x  y`.",
}


@pytest.mark.parametrize("lang", SENTENCES)
def test_look_alike_letters_become_those_meant(lang: str) -> None:
    text = SENTENCES[lang]
    fold = bq.defence("fold", lang=lang)
    changed = [bq.perturb("homoglyph", [text], lang=lang, level=0.15, seed=seed)[0] for seed in range(20)]
    assert sum(one != text for one in changed) >= 15
    restored = fold.apply([str(one) for one in changed])
    assert sum(one == text for one in restored) >= 18, restored


@pytest.mark.parametrize(
    ("lang", "noisy", "meant"),
    [
        ("ru", "Агентство Asѕoсiated Рrеss ʙ Москве и Neԝs Сorp.", "Агентство Associated Press в Москве и News Corp."),
        ("uk", "Газета The Guаrdіan ɜ Лондона, Gоogӏe.", "Газета The Guardian з Лондона, Google."),
        ("el", "Η Goоցle και ƞ Faϲеbook άνοιξαν.", "Η Google και η Facebook άνοιξαν."),
        ("ru", "PDFы и SMSка, TVа – окончания, СШA – нет.", "PDFы и SMSка, TVа – окончания, США – нет."),
    ],
)
def test_look_alikes_in_latin_names_and_single_letters_of_other_scripts(lang: str, noisy: str, meant: str) -> None:
    assert bq.defence("fold", lang=lang).apply([noisy]) == [meant]


def test_no_break_spaces_stay_where_typography_has_them_only() -> None:
    odd = "Он сказал,\u00a0что в городе\u00a0увидел 25\u00a0тысяч, а\u00a0она \u2014\u00a0нет."
    meant = "Он сказал, что в городе увидел 25\u00a0тысяч, а\u00a0она \u2014\u00a0нет."
    assert bq.defence("fold", lang="ru").apply([odd]) == [meant]


@pytest.mark.parametrize("lang", SENTENCES)
def test_odd_spaces_and_invisible_characters_go(lang: str) -> None:
    text = SENTENCES[lang]
    fold = bq.defence("fold", lang=lang)
    first, second = text.split(" ", 1)
    odd = [f"{first}\t{second}", f"{first}   {second}", f"{first} \u00a0{second}", text + " ", "\ufeff" + text]
    odd += [text[:9] + unseen + text[9:] for unseen in "\u00ad\u200b\u2060\u200d\u0007\u200e"]
    assert set(fold.apply(odd)) == {text}


@pytest.mark.parametrize("lang", NEEDED)
def test_what_a_script_needs_stays(lang: str) -> None:
    assert bq.defence("fold", lang=lang).apply([NEEDED[lang]]) == [NEEDED[lang]]


def test_full_width_and_styled_letters_become_plain() -> None:
    (text,) = bq.defence("fold", lang="en").apply(["Ｗｅ ｗａｎｔ 𝐛𝐨𝐥𝐝 words, ﬁne ones and a\u2011dash."])
    assert text == "We want bold words, fine ones and a-dash."


def test_stretched_words_are_shortened_and_words_with_three_letters_in_a_row_stay() -> None:
    fold = bq.defence("fold", lang="de")
    assert fold.apply(["Das ist sooooo gut, dannnn kannnn die Schifffahrt im Jahr XXIII beginnen."]) == [
        "Das ist so gut, dann kann die Schifffahrt im Jahr XXIII beginnen."
    ]


def test_letters_that_stand_for_something_else_are_no_stretched_words() -> None:
    text = "Our xxx majors take “yyy.zzz” and **aaa bbb**, and www stays."
    assert bq.defence("fold", lang="en").apply([text]) == [text]


def test_broken_spacing_is_mended() -> None:
    (text,) = bq.defence("fold", lang="en").apply(["Well,the price　is 1,500 ,I think , or f(a,b)."])
    assert text == "Well, the price is 1,500 ,I think, or f(a,b)."


def test_machinery_is_left_alone() -> None:
    text = "Siehe {nаme},  <b>hier</b>  `a  b`  https://example.org/a%20b"
    (folded,) = bq.defence("fold", lang="de").apply([text])
    assert folded == "Siehe {nаme}, <b>hier</b> `a  b` https://example.org/a%20b"


@given(st.text(max_size=80))
def test_any_text_is_folded_once(text: str) -> None:
    """Folding what is folded changes nothing, and nothing raises."""
    fold = bq.defence("fold", lang="de")
    (once,) = fold.apply([text])
    assert fold.apply([once]) == [once] or unicodedata.normalize("NFKC", text) != text
    assert once.count("\n") == text.count("\n")


ODD = regex.compile(
    r"[ \t]{2,}|[\u00a0\u202f] | [\u00a0\u202f]|[\u200b\u00ad\x7f-\x9f]|(\p{L})\1{3}|\p{L} [,.](?:\s|$)"
    r"|\p{Ll}{2},\p{L}{2}"
)
"""What is noise in published text too: double and unseen spaces, stretched words, spaces wrong beside a comma."""


def test_clean_text_of_every_language_is_left_as_it_is(shared_data: Path) -> None:
    """NTREX: 28 languages, of each 200 lines without such noise; three words of mixed scripts are left at most."""
    changed: dict[str, list[str]] = {}
    with tarfile.open(shared_data / "ntrex/ntrex-27.tar.xz") as archive:
        for member in archive:
            if not member.name.endswith(".txt"):
                continue
            lang = Path(member.name).stem
            lines = io.TextIOWrapper(archive.extractfile(member), "utf-8").read().splitlines()  # type: ignore[arg-type]
            clean = [line for line in lines[::9] if not ODD.search(line) and unicodedata.is_normalized("NFC", line)]
            folded = bq.defence("fold", lang=lang).apply(clean)
            changed[lang] = [line for line, new in zip(clean, folded, strict=True) if line != new]
    assert len(changed) > 25
    assert sum(map(len, changed.values())) <= 3, changed
    assert changed.keys() >= {"arb", "hin", "heb", "jpn", "kor", "fas", "sin", "zho-CN"}

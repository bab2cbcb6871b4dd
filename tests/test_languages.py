"""Languages and language pairs in the many ways people write them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.languages import Language, LanguagePair, pair_in_path, pair_of_endings
from babelquake.perturb import perturb

CODES = ["de", "en", "fr", "ja", "pt-BR", "zh-Hant", "sr-Latn", "en-GB", "yue", "br", "ca"]


@pytest.mark.parametrize(
    ("written", "tag", "code"),
    [
        ("EN", "en", "en"),
        ("eng", "en", "en"),
        ("zho", "zh", "zh"),
        ("cmn", "zh", "zh"),
        ("ger", "de", "de"),
        ("pt-BR", "pt-BR", "pt"),
        ("pt_br", "pt-BR", "pt"),
        ("deu_Latn", "de", "de"),
        ("zho_Hans", "zh-Hans", "zh"),
        ("npi", "ne", "ne"),
        (" de ", "de", "de"),
        ("es-419", "es-419", "es"),
    ],
)
def test_a_language_has_one_form(written: str, tag: str, code: str) -> None:
    language = Language(written)
    assert (language, language.code) == (tag, code)
    assert Language(language) is language


@pytest.mark.parametrize("text", ["", "xx", "klingon", "de-en-fr", "und", "d", "a b", "\ud800"])
def test_what_is_no_language(text: str) -> None:
    assert Language.known(text) is None
    with pytest.raises(UserError, match="not a language code"):
        Language(text)


def test_a_name_instead_of_a_code_is_helped() -> None:
    with pytest.raises(UserError, match="Did you mean 'de'"):
        Language("German")


@pytest.mark.parametrize(
    ("written", "source", "target"),
    [
        ("de-en", "de", "en"),
        ("DE-EN", "de", "en"),
        ("deu-eng", "de", "en"),
        ("pt-BR-en", "pt-BR", "en"),
        ("en-pt-BR", "en", "pt-BR"),
        ("en-pt_BR", "en", "pt-BR"),
        ("zh-Hant-en", "zh-Hant", "en"),
        ("zho_Hans-eng_Latn", "zh-Hans", "en"),
        ("en-fr-CA", "en", "fr-CA"),
        ("pt-br-en", "pt-BR", "en"),
        ("en-zh-tw", "en", "zh-TW"),
        ("br-fr", "br", "fr"),
    ],
)
def test_a_pair_is_cut_where_its_languages_meet(written: str, source: str, target: str) -> None:
    pair = LanguagePair(written)
    assert (pair.source, pair.target) == (source, target)
    assert pair == f"{source}-{target}" and LanguagePair(str(pair)) == pair


def test_what_could_be_two_pairs_is_not_guessed() -> None:
    with pytest.raises(UserError, match="can be read as pt to br-es or as pt-br to es"):
        LanguagePair("pt-br-es")
    assert LanguagePair.known("pt-br-es") is None


@pytest.mark.parametrize("text", ["German to English", "de", "de-", "-en", "de-xx", "unknown", "de–en"])
def test_what_is_no_pair(text: str) -> None:
    assert LanguagePair.known(text) is None
    with pytest.raises(UserError, match="such as de-en"):
        LanguagePair(text)


@given(st.sampled_from(CODES), st.sampled_from(CODES))
def test_a_pair_read_back_is_the_same_pair(source: str, target: str) -> None:
    pair = LanguagePair.of(source, target)
    again = LanguagePair(str(pair))
    assert (again.source, again.target) == (pair.source, pair.target)
    copy = pickle.loads(pickle.dumps(pair))
    assert isinstance(copy, LanguagePair) and copy.target == pair.target


def test_python_understands_what_the_command_line_does() -> None:
    text = ["Das ist eine nette Geschichte von nebenan."]
    for written in ("DE", "deu", "de-AT"):
        assert perturb("misspell", text, lang=written, level=0.9) == perturb("misspell", text, lang="de", level=0.9)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("europarl/dev.de-en.tsv", "de-en"),
        ("newstest2019.deu-eng.tsv", "de-en"),
        ("mlqe-pe/test20.eten.df.short.tsv", "et-en"),
        ("wmt19-darr/lt-en/darr.tsv.gz", "lt-en"),
        ("wmt23/en-de_DE.tsv", "en-de-DE"),
        ("flores/pt-BR-en.tsv", "pt-BR-en"),
        ("zho_Hans-eng_Latn.tsv", "zh-Hans-en"),
        ("EN-DE.tsv", "en-de"),
        ("dev-new.tsv", None),
        ("data.tsv", None),
        ("my-file.tsv", None),
        ("de-de.tsv", None),
    ],
)
def test_pairs_in_names(path: str, expected: str | None) -> None:
    assert pair_in_path(path) == expected


def test_parallel_files_tell_the_pair_by_their_endings() -> None:
    assert pair_of_endings("train.de", "train.en.gz") == "de-en"
    assert pair_of_endings("a.txt", "b.txt") is None

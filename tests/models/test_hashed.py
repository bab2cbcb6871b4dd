"""The multilingual models that ship: what they know, and that they are what was trained."""

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.models import encoder
from babelquake.models.hashed_vectors import HashedVectors, gelu
from babelquake.scorers import scorer
from babelquake.scorers.qe_multi import HashedQuality, copied, with_final_mark

SENTENCES = {
    "de": ("Der Minister trat am Montag zurück.", "Das Wetter bleibt morgen kalt und nass."),
    "ro": ("Ministrul a demisionat luni.", "Vremea rămâne rece și umedă mâine."),
    "ru": ("Министр ушёл в отставку в понедельник.", "Завтра погода останется холодной и сырой."),
    "et": ("Minister astus esmaspäeval tagasi.", "Ilm jääb homme külmaks ja niiskeks."),
    "si": ("ඇමතිවරයා සඳුදා ඉල්ලා අස්විය.", "හෙට කාලගුණය සීතල සහ තෙත් වනු ඇත."),
}
ENGLISH = ("The minister resigned on Monday.", "The weather will stay cold and wet tomorrow.")


@pytest.fixture(scope="module")
def vectors() -> HashedVectors:
    return HashedVectors()


def test_translations_are_nearer_than_other_sentences(vectors: HashedVectors) -> None:
    english = vectors.sentences(ENGLISH)
    for language, texts in SENTENCES.items():
        likeness = vectors.sentences(texts) @ english.T
        assert np.diag(likeness).min() > max(likeness[0, 1], likeness[1, 0]), language


def test_a_vector_does_not_depend_on_its_company(vectors: HashedVectors) -> None:
    texts = [*ENGLISH, "", "日本", "x" * 5000, "one"]
    together = vectors.sentences(texts)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(row, vectors.sentences([text])[0])
    assert not together[2].any()
    assert np.allclose(np.linalg.norm(together[[0, 1, 3, 4, 5]], axis=1), 1, atol=1e-5)


def test_languages_are_named(vectors: HashedVectors) -> None:
    named = {"ar", "cs", "et", "he", "hi", "is", "ko", "ne", "ro", "ru", "si", "uk", "zh"}
    assert named <= encoder("vectors-multi").languages


def test_gelu_is_the_tanh_form() -> None:
    x = np.linspace(-9, 9, 2001, dtype=np.float32)
    wanted = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    made = x.copy()
    gelu(made)
    assert np.abs(made - wanted).max() < 1e-5


def test_the_estimate_falls_when_the_translation_is_spoilt() -> None:
    source = SENTENCES["ro"][0]
    good, half, other = scorer("qe-multi").segments([ENGLISH[0], "The minister.", ENGLISH[1]], None, [source] * 3)
    assert good > half > other


def test_the_estimate_equals_the_transformers_alone_plus_the_weighted_cosine() -> None:
    made = scorer("qe-multi")
    sources, translations = [texts[0] for texts in SENTENCES.values()], [ENGLISH[0]] * len(SENTENCES)
    cosine = scorer("embedding-similarity").segments(translations, None, sources)
    wanted = HashedQuality().rate(sources, translations) + made.weight * cosine
    assert np.allclose(made.segments(translations, None, sources), wanted, atol=1e-5)


def test_a_folder_that_is_not_a_model_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match=r"weights\.npz"):
        HashedVectors(str(tmp_path))
    (tmp_path / "weights.npz").write_bytes(b"no archive")
    (tmp_path / "card.json").write_text("{}")
    with pytest.raises(UserError, match="weights"):
        HashedVectors(str(tmp_path)).sentences(["a"])


def test_a_copied_source_is_not_a_translation() -> None:
    made = scorer("qe-multi")
    for language, texts in SENTENCES.items():
        translated, untranslated = made.segments([ENGLISH[1], texts[1]], None, [texts[1]] * 2)
        assert translated > untranslated + 1, language


def test_names_numbers_and_addresses_may_stay_as_they_are() -> None:
    assert copied("Foto: Anna Müller, Berlin 1998", "Photo: Anna Müller, Berlin 1998") == 0
    assert copied("список улиц https://ru.sputnik.kg/society", "list of streets https://ru.sputnik.kg/society") == 0
    assert copied("das ist ein kleiner Test", "das ist ein kleiner Test") == 1
    assert copied("ok", "ok") == 0


def test_a_missing_full_stop_costs_little() -> None:
    made = scorer("qe-multi")
    for language, (_, source) in SENTENCES.items():
        good, unmarked, half = made.segments(
            [ENGLISH[1], ENGLISH[1].rstrip("."), "The weather will stay."], None, [source] * 3
        )
        assert abs(good - unmarked) < 0.15 < good - half, language


def test_a_translation_is_read_with_the_final_mark_of_its_source() -> None:
    assert with_final_mark("Wer ist da?", "Who is there") == "Who is there?"
    assert with_final_mark("यो राम्रो छ।", 'It is "good"') == 'It is "good.'
    assert with_final_mark("It rains.", "下雨") == "下雨。"
    assert with_final_mark("Kapitel 3", "Chapter 3.") == "Chapter 3."
    assert with_final_mark("…", "") == ""

"""Respellings keep the sound, as an independent grapheme-to-phoneme tool (eSpeak NG) hears it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from babelquake.perturb import Perturbation
from babelquake.perturb.zeroe import RESPELT, respellings

LOOSE = str.maketrans({"ˈ": "", "ˌ": "", "ː": "", "ʌ": "ə", "ɐ": "ə", "ᵻ": "ɪ"})
"""Stress and length aside, weak vowels count as one."""
TEXTS = {
    "en": "Now they have come to an agreement because people in this country believe that children need better schools",
    "de": "Die Regierung hat heute beschlossen dass alle Kinder in diesem Land bessere Schulen bekommen sollen",
    "fr": "Le gouvernement a décidé que tous les enfants de ce pays auront de meilleures écoles cette année",
}


def sounds(words: list[str], voice: str) -> list[str]:
    """Phonemes of words, each spoken alone."""
    if not shutil.which("espeak-ng"):
        pytest.skip("needs espeak-ng (Debian package espeak-ng)")
    spoken = subprocess.run(
        ["espeak-ng", "-q", "--ipa", "-v", voice],
        input="\n\n".join(words) + "\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    heard = [line.strip().translate(LOOSE) for line in spoken.splitlines() if line.strip()]
    assert len(heard) == len(words)
    return heard


def share_kept(before: list[str], after: list[str], voice: str) -> float:
    """Of the words that were respelled, how many sound as before."""
    pairs = sorted({(a, b) for a, b in zip(before, after, strict=True) if a != b})
    assert len(pairs) >= 20
    kept = zip(sounds([a for a, _ in pairs], voice), sounds([b for _, b in pairs], voice), strict=True)
    return sum(one == other for one, other in kept) / len(pairs)


@pytest.mark.parametrize(("lang", "voice"), [("en", "en-us"), ("de", "de"), ("fr", "fr")])
def test_respelled_words_sound_the_same(lang: str, voice: str) -> None:
    before, after = [], []
    for seed in range(25):
        changed = Perturbation("phonetic", level=0.3).apply(TEXTS[lang], lang=lang, seed=seed) or ""
        before += TEXTS[lang].lower().split()
        after += changed.lower().split()
    assert share_kept(before, after, voice) >= 0.9


def test_news_the_tables_were_not_made_from_sounds_the_same(shared_data: Path) -> None:
    lines = (shared_data / "wmt19-darr" / "lt-en" / "references.txt").read_text(encoding="utf-8").splitlines()[:60]
    change = Perturbation("phonetic", level=0.1)
    words = [word for line in lines for word in line.lower().split() if word.isalpha() and word.isascii()]
    assert share_kept(words, [change.apply(word, lang="en") or word for word in words], "en-us") >= 0.9


@pytest.mark.parametrize("lang", RESPELT)
def test_spots_lie_inside_the_word(lang: str) -> None:
    for word in TEXTS[lang].lower().split():
        for start, end, choices in respellings(word, lang):
            assert 0 <= start < end <= len(word) and choices and word[start:end] not in choices


def test_a_respelling_keeps_the_casing() -> None:
    made = {Perturbation("phonetic", level=1).apply("Philosophy", lang="en", seed=seed) for seed in range(20)}
    assert any(word and word != "Philosophy" for word in made)
    assert all(word and word[0].isupper() for word in made)

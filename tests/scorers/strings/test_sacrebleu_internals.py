"""The adapter finds what it needs in every version of sacreBLEU that is supported."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from babelquake.scorers import scorer
from babelquake.scorers.strings.sacrebleu_internals import SUPPORTED, default_tokeniser

CHECK = """
import sacrebleu
from babelquake.scorers import scorer
text, other = ["The cat sat on the mat, didn't it?"], ["A cat was on the mat; wasn't it?"]
made = {name: scorer(name) for name in ("bleu", "chrf", "chrf++", "ter")}
official = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf, "ter": sacrebleu.corpus_ter}
for name, function in official.items():
    assert abs(made[name].corpus(text, other) - function(text, [other]).score) < 1e-9, name
for name, some in made.items():
    assert f"version:{sacrebleu.__version__}" in some.signature, some.signature
print(sacrebleu.__version__)
"""


def test_the_installed_version_is_one_that_is_supported() -> None:
    assert version("sacrebleu") in SUPPORTED


def test_languages_have_their_tokenisers() -> None:
    assert [default_tokeniser(code) for code in ("en", "ja", "zh", "ko", "")] == [
        "13a",
        "ja-mecab",
        "zh",
        "ko-mecab",
        "13a",
    ]


def test_signatures_are_sacrebleus() -> None:
    assert scorer("chrf").signature.startswith("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")
    assert scorer("bleu").signature_for(None).startswith("BLEU|nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert scorer("ter").signature.startswith("TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:")


@pytest.mark.slow
@pytest.mark.parametrize("wanted", SUPPORTED)
def test_every_supported_version(wanted: str, tmp_path: Path) -> None:
    if wanted != version("sacrebleu"):
        install = [sys.executable, "-I", "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path)]
        done = subprocess.run([*install, f"sacrebleu=={wanted}"], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"sacreBLEU {wanted} cannot be installed here")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    checked = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout.strip() == wanted, checked.stderr

"""One line of 100,000 characters: read, cut with a note or refused with a sentence, in little memory."""

import resource
import subprocess
import sys
from collections.abc import Callable

import pytest

from babelquake.errors import UserError
from babelquake.scorers import scorer

LONG = " ".join(f"word{number % 997}" for number in range(13_000))[:100_000]
JUDGE = """
import sys, logging
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from babelquake.engine import Engine
from babelquake.scorers import Questions, scorer
long = " ".join(f"word{number % 997}" for number in range(13_000))[:100_000]
judge = scorer(sys.argv[1])
rows = Engine(quiet=True).judge(judge, Questions([long, "short"], [[long[::-1]], ["sort"]], [long[::2], "kurz"]))
print("judged", rows.shape[0])
"""


def limited(megabytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))


def judged(name: str, megabytes: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, name],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limited(megabytes),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", ["chrf", "bleu", "chrf[word_order=2]"])
def test_strings_are_compared_in_little_memory(name: str) -> None:
    assert "judged 2" in judged(name, 900)


def test_ter_refuses_what_would_take_hours() -> None:
    with pytest.raises(UserError, match=r"100,000 characters is too long to be compared, “word0 word1.*at most 20,000"):
        scorer("ter").segments([LONG], [["short"]])
    assert scorer("ter").segments([LONG[:20_000]], [["short"]]).shape == (1,)


def test_strings_beyond_any_sentence_are_refused() -> None:
    with pytest.raises(UserError, match=r"1,000,001 characters is too long"):
        scorer("chrf").segments(["a"], [["b" * 1_000_001]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["embedding-similarity", "bertscore[model=minilm-en]"])
def test_models_read_the_beginning_and_say_so(name: str) -> None:
    if name != "embedding-similarity":
        pytest.importorskip("torch", reason="needs the scorer's extra")
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    told = judged(name, 6000)
    assert "judged 2" in told
    assert "cut to the length" in told

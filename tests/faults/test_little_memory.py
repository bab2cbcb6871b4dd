"""Memory that runs out is told as such, and nothing waits for ever."""

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs the extra [neural]")
resource = pytest.importorskip("resource", reason="limits of memory are Unix's")

JUDGE = """
import resource, sys
from pathlib import Path
from babelquake.engine import Engine
from babelquake.errors import ResumableError
from babelquake.scorers import Questions, scorer
made = scorer("bertscore[model=minilm-en,layer=6]")
made.encoder.core.model, made.encoder.core.tokenizer
pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + (4 << 20),) * 2)
texts = [f"text number {number} of the many texts that are here" for number in range(300)]
try:
    Engine(quiet=True).judge(made, Questions(texts, [[text] for text in texts]))
except ResumableError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_four_more_megabytes_are_too_few_for_one_text() -> None:
    """The tokenizer's threads started while the model was loaded; before, they found no memory and the run hung."""
    done = subprocess.run([sys.executable, "-c", JUDGE], capture_output=True, text=True, timeout=240)
    assert done.stdout.startswith("not enough memory for a single text."), done.stderr

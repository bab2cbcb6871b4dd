"""What the models that ship reach as they are stored, beside the figures that their cards have from before.

python scripts/stored_figures.py TRAINING [--beside FOLDER] [--only NAME …]

`TRAINING` is the folder that make_training_texts.py writes. `--beside` names another causal language model: it and
gpt-en judge the same sentences, both without an end mark. Prints one line of JSON a figure.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
import transformers

from babelquake.models import causal
from babelquake.models.int8_weights import pretrained
from babelquake.models.shipped import folder
from babelquake.train import clm, metric, mlm
from babelquake.train.clm import preferences
from babelquake.train.config import CausalRecipe, MaskedRecipe, MetricRecipe, read_settings
from babelquake.train.training import files, read

PLACE = torch.device("cpu")
NEWS = "news2019"


def masked_figures(name: str, training: Path) -> dict[str, Any]:
    """Accuracy at masked places."""
    recipe = read_settings(MaskedRecipe, "mlm", name)
    model = pretrained(transformers.AutoModelForMaskedLM, folder(name))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder(name))
    held = files(training / "texts", "dev")
    return {part: mlm.measured(model, tokenizer, recipe, read(path), PLACE) for part, path in held.items()}


def preferred(name: str, training: Path) -> dict[str, Any]:
    """How often a causal language model prefers what people wrote, the end mark included."""
    recipe = read_settings(CausalRecipe, "clm", name)
    model = pretrained(transformers.AutoModelForCausalLM, folder(name))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder(name))
    judge = clm.log_probabilities(model, tokenizer, recipe.length, PLACE)
    return {part: preferences(judge, read(path)) for part, path in files(training / "texts", "dev").items()}


def correlation(name: str, training: Path) -> dict[str, Any]:
    """Pearson's r with the scores that a metric was taught, over held-out pairs."""
    recipe = read_settings(MetricRecipe, "metric", name)
    model = pretrained(transformers.AutoModelForTokenClassification, folder(name))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder(name))
    return metric.measured(model, tokenizer, training / "rated", recipe, PLACE)


def beside(model: str, training: Path) -> dict[str, Any]:
    """Preferences of any causal language model on news, without an end mark."""
    asked = causal(model)

    def judge(texts: Any) -> list[float]:
        return [
            float(row.mean())
            for start in range(0, len(texts), 64)
            for row in asked.log_probabilities(list(texts[start : start + 64]))
        ]

    return preferences(judge, read(files(training / "texts", "dev")[NEWS]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training", type=Path)
    parser.add_argument("--beside")
    parser.add_argument("--only", nargs="*", default=["minilm-en", "bytes-en", "gpt-en", "judge-en"])
    given = parser.parse_args()
    measures = {"minilm-en": masked_figures, "bytes-en": masked_figures, "gpt-en": preferred, "judge-en": correlation}
    for name in given.only:
        print(json.dumps({name: measures[name](name, given.training)}), flush=True)
    for name in ["gpt-en", given.beside] if given.beside else []:
        print(json.dumps({f"{Path(name).name} without an end mark": beside(name, given.training)}), flush=True)


if __name__ == "__main__":
    main()

"""Results as a model card takes them."""

import yaml

from babelquake.report.model_card import to_model_card
from babelquake.runs.run import Run


def test_every_system_has_its_results_and_the_reader_a_section(runs: dict[str, Run]) -> None:
    text = to_model_card([runs["mt"]])
    _, front, body = text.split("---\n", 2)
    index = yaml.safe_load(front)["model-index"]
    assert [entry["name"] for entry in index] == ["old", "new"]
    metrics = {metric["name"]: metric for metric in index[1]["results"][0]["metrics"]}
    assert metrics["overall quality kept (ROBUST) · chrf · de-en"]["value"] > 90
    assert metrics["quality kept (ROBUST) · chrf · odd capitals · de-en"]["type"] == "robust"
    assert "## Robustness: mt" in body and "Best under noise: new" in body


def test_scorers_are_the_models_of_other_studies(runs: dict[str, Run]) -> None:
    front = yaml.safe_load(to_model_card([runs["qe"]]).split("---\n", 2)[1])
    assert [entry["name"] for entry in front["model-index"]] == ["chrf", "bleu", "ter"]

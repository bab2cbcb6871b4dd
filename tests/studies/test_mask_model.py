"""MAP6 and its masked language model: asked by default where it knows the language, never dropped in silence."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.models import MASKED
from babelquake.models.base import MaskedLM
from babelquake.perturb.suite import suite
from babelquake.resource import Filler, Gap
from babelquake.studies import resolve
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe
from babelquake.studies.resolve import with_masked_lm, without_masked_lm

KANOJIA = suite("kanojia2021")


class Numbers(MaskedLM):
    """Offers two words for every gap; its content is what the test says."""

    content = "one"

    @property
    def signature(self) -> str:
        """Name and content."""
        return f"numbers#{self.content}"

    def fill(self, gaps: list[Gap], top: int) -> list[list[Filler]]:
        """The same for every gap."""
        return [[Filler("seven", 0.5), Filler("eight", 0.5)] for _ in gaps]


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> type[Numbers]:
    """The model, registered."""
    monkeypatch.setattr(Numbers, "content", "one")
    monkeypatch.setitem(MASKED._things, "numbers", Numbers)
    return Numbers


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the model that ships could run."""
    monkeypatch.setattr(resolve, "_missing", list)


@pytest.mark.usefixtures("installed")
def test_the_model_that_ships_is_asked_for_english_and_named() -> None:
    chosen, said = with_masked_lm(KANOJIA, None, ["en"])
    (asked,) = [change for change in chosen.perturbations if change.name == "mask-replace"]
    assert (asked.options["model"], asked.options["only"]) == ("minilm-en", "en")
    assert len([change for change in chosen.perturbations if change.card.meaning == "altering"]) == 8
    assert said == [
        "mask-replace (MAP6) asks minilm-en, the masked language model that ships (paper: bert-base-uncased); "
        "masked_lm=… names another, masked_lm='none' leaves it out."
    ]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("languages", [["de"], [None], ["cs", "de"]])
def test_it_is_not_asked_for_other_languages(languages: list[str | None]) -> None:
    chosen, said = with_masked_lm(KANOJIA, None, languages)
    assert len(chosen.perturbations) == 13
    assert said[0].startswith("7 of 8 meaning-altering probes: mask-replace was left out")
    assert "minilm-en, knows English alone" in said[0]


@pytest.mark.usefixtures("installed")
def test_in_mixed_data_english_texts_alone_are_asked_about() -> None:
    chosen, said = with_masked_lm(KANOJIA, None, ["en", "de"])
    (asked,) = [change for change in chosen.perturbations if change.name == "mask-replace"]
    assert asked.begin("Das ist ein Satz.", "de") is not None  # a generator that returns at once
    assert asked.apply("Das ist ein Satz.", lang="de", fillers=lambda *_: []) is None
    assert said[1].startswith("In de: 7 of 8 meaning-altering probes")


def test_a_model_by_name_is_asked_whatever_the_language_and_none_leaves_it_out() -> None:
    chosen, said = with_masked_lm(KANOJIA, "some/model", ["de"])
    assert len(chosen.perturbations) == 14 and not said
    chosen, said = with_masked_lm(KANOJIA, "none", ["en"])
    assert len(chosen.perturbations) == 13 and "7 of 8" in said[0]
    plain = suite("niu2020")
    assert with_masked_lm(plain, None, ["en"]) == without_masked_lm(plain) == (plain, [])


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "find_spec", lambda name: None)
    monkeypatch.setattr(resolve, "shipped", dict)
    _, said = with_masked_lm(KANOJIA, None, ["en"])
    assert "[neural]'" in said[0] and "pip install babelquake-models" in said[0]
    assert "7 of 8 meaning-altering probes" in said[0]


def test_mt_and_metric_say_that_it_was_left_out(judged: Dataset, tmp_path: Path) -> None:
    quiet = {"resamples": 100, "engine": Engine(quiet=True)}
    runs = [
        mt(
            systems="command[cmd=cat]",
            data=judged,
            suite="mask-replace,case",
            scorers="chrf",
            out=tmp_path / "mt",
            **quiet,
        ),  # type: ignore[arg-type]
        metric(scorers="chrf", data=judged, suite="mask-replace,case", side="source", out=tmp_path / "metric", **quiet),  # type: ignore[arg-type]
    ]
    for run in runs:
        assert any("mask-replace was left out" in note and "mask-replace[model=" in note for note in run.info.notes)


def test_the_model_s_content_is_in_the_signature_and_another_s_is_refused(
    judged: Dataset, numbers: type[Numbers], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"masked_lm": "numbers", "replicates": 1, "resamples": 100, "engine": Engine(quiet=True)}
    run = qe(scorers="chrf", data=judged, suite="mask-replace,case", out=tmp_path / "run", **asked)  # type: ignore[arg-type]
    rows = run.measures.filter(pl.col("perturbation").str.starts_with("mask-replace"))
    assert rows.height and rows["signature"].str.contains("numbers#one", literal=True).all()
    others = run.measures.filter(pl.col("perturbation") == "case")
    assert not others["signature"].str.contains("numbers#one", literal=True).any()
    monkeypatch.setattr(numbers, "content", "two")
    with pytest.raises(UserError, match="masked language model of mask-replace"):
        qe(scorers="chrf", data=judged, suite="mask-replace,case", out=tmp_path / "run", **asked)  # type: ignore[arg-type]


def test_map6_is_in_the_default_set(judged: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the masked language model needs PyTorch")
    pytest.importorskip("transformers", reason="the masked language model needs transformers")
    if "minilm-en" not in resolve.shipped():
        pytest.skip("needs the distribution babelquake-models")
    run = qe(scorers="chrf", data=judged, out=tmp_path / "run", replicates=1, resamples=100, engine=Engine(quiet=True))
    drops = run.measures.filter(pl.col("measure") == "drop", pl.col("perturbation").str.starts_with("mask-replace"))
    assert drops.height == 1 and drops["value"][0] > 0
    assert run.info.facts.probes[drops["perturbation"][0]].meaning == "altering"
    texts = run.variants.filter(pl.col("perturbation").str.starts_with("mask-replace"))["text"]
    assert texts.str.to_lowercase().eq(texts).all()

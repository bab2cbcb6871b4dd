"""Judges whose noise, order bias, unreadable answers and dependence on the prompt are known: measures recover them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.chat_server import Behaviour, ChatServer, chance

import babelquake as bq
from babelquake.runs.run import Run
from babelquake.stats.bootstrap import Resampled
from babelquake.studies.judge_reliability import with_prompts_drawn
from babelquake.studies.judging import must_answer

SEGMENTS = 80
TEXTS = [f"translation number {place} of these" for place in range(SEGMENTS)]
TRUTH = {text: 20 + 60 * chance(text, "quality") for text in TEXTS}
"""How good each translation is, from 20 to 80."""


def given() -> pl.DataFrame:
    human = [TRUTH[text] + 20 * (chance(text, "people") - 0.5) for text in TEXTS]
    return pl.DataFrame(
        {
            "id": [str(place) for place in range(SEGMENTS)],
            "source": [f"Quelle {place}" for place in range(SEGMENTS)],
            "reference": [f"reference {place}" for place in range(SEGMENTS)],
            "translation": TEXTS,
            "score": human,
            "language_pair": ["de-en"] * SEGMENTS,
        }
    )


def normal(key: str) -> float:
    """A draw of a normal variable that depends on the key alone."""
    return float(np.sqrt(-2 * np.log(chance(key, "u") or 0.5)) * np.cos(2 * np.pi * chance(key, "v")))


def judged(text: str) -> str:
    return next(one for one in TEXTS if f"{one}\n" in f"{text}\n")


def agreed(judge: Callable[[str, int], str], out: Path, options: str, cache: object = "none") -> tuple[Run, ChatServer]:
    with ChatServer(Behaviour(judge=judge)) as server:
        run = bq.correlate(
            data=given(),
            scorers=[f"llm-judge[model=m,base_url={server.url},name=judge,{options}]"],
            statistics=["pearson"],
            resamples=400,
            out=out,
            cache=cache,
            quiet=True,
        )
    return run, server


def row(run: Run, measure: str) -> dict[str, float]:
    (found,) = run.measures.filter(pl.col("measure") == measure).iter_rows(named=True)
    return found


def test_translations_without_a_readable_answer_are_left_out_of_the_page(tmp_path: Path) -> None:
    def judge(prompt: str, before: int) -> str:
        text = judged(prompt)
        return "I would rather not say." if text in TEXTS[60:70] else f"{TRUTH[text]:.2f}"

    run, _ = agreed(judge, tmp_path / "run", "temperature=0")
    assert row(run, "parse_failures")["value"] == 12.5
    assert "12.5" in run.report(tmp_path / "page.html").read_text("utf-8")


def test_a_judge_that_is_loaded_here_may_leave_texts_out_too() -> None:
    judges = [bq.scorer("llm-judge[model=m.gguf,local=true]"), bq.scorer("llm-judge[model=m]")]
    chrf = bq.scorer("chrf")
    assert must_answer([*judges, chrf]) == [chrf]


def test_repeat_noise_and_unreadable_answers_are_recovered(tmp_path: Path) -> None:
    def judge(prompt: str, before: int) -> str:
        text = judged(prompt)
        if chance(f"{text}{before}", "unreadable") < 0.15:
            return "I would rather not say."
        return f"{TRUTH[text] + 6 * normal(f'{text}|{before}'):.2f}"

    run, server = agreed(judge, tmp_path / "run", "repeats=4,temperature=1,seed=3")
    assert len(server.requests) == 4 * SEGMENTS
    assert len({body["seed"] for body in server.requests}) == 4 * SEGMENTS
    noise, unread = row(run, "repeat_sd"), row(run, "parse_failures")
    assert noise["low"] < 6 < noise["high"]
    assert unread["low"] < 15 < unread["high"]
    told = " ".join(run.verdict)
    assert "again" in told and "not what was asked for" in told
    assert "asked again, sd" in run.report(tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_a_preference_for_the_first_translation_is_recovered(tmp_path: Path, bias: float) -> None:
    def judge(prompt: str, before: int) -> str:
        text, first = judged(prompt), f"A: {judged(prompt)}" in prompt
        if chance(text, "leans") < bias:
            return "A"
        won = chance(text, "won") < 0.5
        return "A" if won == first else "B"

    run, server = agreed(judge, tmp_path / "run", "style=pairwise")
    assert len(server.requests) == 2 * SEGMENTS
    truth = 100 * sum(chance(text, "leans") < bias for text in TEXTS) / SEGMENTS
    found = row(run, "order_bias")
    assert found["value"] == pytest.approx(truth)
    assert found["low"] <= truth <= found["high"]
    assert (found["p_corrected"] < 0.05) == (bias > 0)
    assert any("shown first" in sentence for sentence in run.verdict) == (bias > 0)


def test_prompts_move_scores_and_widen_the_agreement(tmp_path: Path) -> None:
    effects = {"How well": 0.0, "Rate the": 8.0, "You check": -8.0, "On a scale": 4.0}

    def judge(prompt: str, before: int) -> str:
        text, head = judged(prompt), next(head for head in effects if prompt.startswith(head))
        good = TRUTH[text] if head != "You check" else 20 + 60 * chance(text, "something else")
        return f"{max(0, good + effects[head] + normal(text + head)):.2f}"

    run, server = agreed(judge, tmp_path / "several", "variants=ours")
    assert len(server.requests) == 4 * SEGMENTS
    found = row(run, "prompt_sd")
    assert found["low"] < float(np.std(list(effects.values()), ddof=1)) < found["high"]
    one, _ = agreed(judge, tmp_path / "one", "temperature=0")
    widths = [row(each, "pearson")["high"] - row(each, "pearson")["low"] for each in (run, one)]
    assert widths[0] > 2 * widths[1]
    assert "prompt_sd" not in one.measures["measure"].to_list()
    answers = run.table("answers")
    assert answers.height == 4 * SEGMENTS
    assert answers["prompt"].n_unique() == 4


def test_prompts_that_agree_widen_nothing() -> None:
    drawn = Resampled(0.5, np.linspace(0.4, 0.6, 100))
    scores = np.tile(np.arange(10.0), (3, 1))
    assert with_prompts_drawn(drawn, scores, lambda values: float(values.mean()), "judge", 0).values == pytest.approx(
        drawn.values
    )
    assert with_prompts_drawn(drawn, scores[:1], lambda values: 0.0, "judge", 0) is drawn


def test_an_answer_is_paid_for_once_whatever_is_asked_beside_it(tmp_path: Path) -> None:
    def judge(prompt: str, before: int) -> str:
        return "50" if before == 0 else "70"

    cache = tmp_path / "cache.sqlite"
    with ChatServer(Behaviour(judge=judge)) as server:
        for repeats, paid in ((1, SEGMENTS), (3, 3 * SEGMENTS), (3, 3 * SEGMENTS)):
            name = f"llm-judge[model=m,base_url={server.url},name=judge,repeats={repeats}]"
            out = tmp_path / f"run{len(server.requests)}-{repeats}"
            bq.correlate(data=given(), scorers=[name], statistics=["pearson"], resamples=100, out=out, cache=cache)
            assert len(server.requests) == paid


def test_a_dry_run_counts_the_judges_tokens_and_money() -> None:
    def forecast(options: str) -> Any:
        name = f"llm-judge[model=m,base_url=http://127.0.0.1:9/v1,price_in=1,price_out=2,{options}]"
        return bq.plan.correlate(data=given(), scorers=[name], cache="none").forecast()

    once, often = forecast("repeats=1"), forecast("repeats=3,variants=ours")
    assert once.scorers[0].texts == SEGMENTS
    assert often.scorers[0].texts == 12 * SEGMENTS
    assert once.tokens is not None and often.tokens is not None
    assert 9 * once.tokens < often.tokens < 15 * once.tokens
    assert once.dollars is not None and 0 < once.dollars < often.dollars / 9  # type: ignore[operator]
    systems = ["command[cmd=cat]"]
    judge = "llm-judge[model=m,base_url=http://127.0.0.1:9/v1,price_in=1,repeats=2]"
    planned = bq.plan.mt(data=given(), systems=systems, scorers=[judge], suite="case[level=1,to=upper]", cache="none")
    (told,) = planned.forecast().scorers
    assert told.texts == 4 * SEGMENTS
    assert told.tokens is not None and told.tokens > 40 * told.texts
    assert told.dollars is not None and told.dollars > 0

"""The QE study with a judge over the network: budget, refusals in the notes, errors that cost no second call."""

import json
from pathlib import Path

import pytest
from tests.scorers.test_llm_judge import Server
from tests.scorers.test_llm_judge import server as server

from babelquake.data import Dataset
from babelquake.engine import Cache, Engine
from babelquake.errors import ResumableError, UserError
from babelquake.runs.run import Run
from babelquake.studies.qe.study import qe


def judged_by(server: Server, data: Dataset, out: Path, engine: Engine, style: str = "errors") -> Run:
    spec = f"llm-judge[model=m,base_url={server.url},style={style},concurrent=1]"
    return qe(
        scorers=[spec],
        data=data,
        suite=["word-repeat", "punct-remove"],
        out=out,
        replicates=1,
        resamples=100,
        engine=engine,
    )


def test_nothing_is_sent_past_the_budget(server: Server, judged: Dataset, tmp_path: Path) -> None:
    server.reply = lambda prompt: "[]"
    cache = Cache(tmp_path / "cache")
    with pytest.raises(UserError, match=r"characters are still to be sent .*budget.*10.*Nothing was sent"):
        judged_by(server, judged, tmp_path / "run", Engine(cache, quiet=True, budget=10))
    assert not server.asked
    judged_by(server, judged, tmp_path / "run", Engine(cache, quiet=True, budget=1_000_000))
    asked = len(server.asked)
    judged_by(server, judged, tmp_path / "again", Engine(cache, quiet=True, budget=0))
    assert len(server.asked) == asked > 0, "what is known, errors included, costs nothing"


def test_the_budget_holds_while_sending(server: Server, judged: Dataset, tmp_path: Path) -> None:
    engine = Engine(quiet=True, budget=1_000_000)
    unjudged = engine.unjudged
    engine.unjudged = lambda scorer, questions: unjudged(scorer, questions)[:0]  # type: ignore[method-assign]
    engine.budget = 200
    with pytest.raises(ResumableError, match="the budget is used up"):
        judged_by(server, judged, tmp_path / "run", engine, style="score")
    sent = sum(len(str(body["messages"])) for body in server.asked)
    assert len(server.asked) > 0 and sent > 0 and engine.budget >= 0


def test_refusals_stand_in_the_notes_also_where_the_cache_knows_them(
    server: Server, judged: Dataset, tmp_path: Path
) -> None:
    server.reply = lambda prompt: "70" if prompt.strip().endswith((".", "!", "?")) else "I would rather not."
    cache = Cache(tmp_path / "cache")
    run = judged_by(server, judged, tmp_path / "run", Engine(cache, quiet=True), style="score")
    missing = run.scores["score"].is_nan().sum() + run.scores["score"].null_count()
    assert missing > 0
    left_out = f"gave no score to {missing:,} of {run.scores.height:,} texts; they are left out of every mean."
    assert any(note.endswith(left_out) for note in run.info.notes)
    why = [note for note in run.info.notes if "because the answer is not a number from 0 to 100" in note]
    assert len(why) == 1 and why[0].endswith(f": {sum(run.info.facts.remarks.values())}.")
    again = judged_by(server, judged, tmp_path / "again", Engine(cache, quiet=True), style="score")
    assert any(note.endswith(left_out) for note in again.info.notes)


def test_errors_are_kept_with_their_places_and_cost_no_second_call(
    server: Server, judged: Dataset, tmp_path: Path
) -> None:
    def first_word(prompt: str) -> str:
        return json.dumps([{"span": prompt.rsplit("Translation: ")[-1].split()[0], "severity": "major"}])

    server.reply = first_word
    run = judged_by(server, judged, tmp_path / "run", Engine(quiet=True))
    found = run.table("spans").explode("spans").unnest("spans")
    assert found.height > 8 and set(found["severity"]) == {"major"} and set(found["start"]) == {0}
    prompts = [str(body["messages"]) for body in server.asked]
    assert len(prompts) == len(set(prompts))

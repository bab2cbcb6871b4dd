"""Chat models under other prompts, asked again, and with whole documents: what an imitated one does is recovered."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.chat_server import Behaviour, ChatServer

import babelquake as bq
from babelquake.errors import UserError
from babelquake.http import Client
from babelquake.perturb.labels import label_of
from babelquake.report.pages.mt_tables import mt_tables
from babelquake.runs.run import Run
from babelquake.stats.reliability import components
from babelquake.studies.inquiries import brought_back

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
SENTENCES = [
    f"The {WORDS[place % 12]} {WORDS[(5 * place + 1) % 12]} number {place} of {WORDS[(7 * place) % 12]} is here now."
    for place in range(24)
]


def data(**more: list[str]) -> pl.DataFrame:
    columns = {"source": SENTENCES, "reference": [text.upper() for text in SENTENCES], **more}
    return pl.DataFrame(columns)


def last_paragraph(messages: list[dict[str, Any]]) -> str:
    return str(messages[-1]["content"]).rpartition("\n\n")[2]


def chat(server: ChatServer, **options: object) -> str:
    told = ",".join(f"{name}={value}" for name, value in {"name": "chat", **options}.items())
    return f"openai[model=m,base_url={server.url},retries=0,{told}]"


def ran(server: ChatServer, out: Path, given: pl.DataFrame, options: dict[str, object], **more: Any) -> Run:
    return bq.mt(
        data=given,
        systems=[chat(server, **options)],
        language_pair="en-de",
        scorers=["chrf"],
        resamples=200,
        out=out,
        cache=more.pop("cache", "none"),
        quiet=True,
        **more,
    )


def value(run: Run, measure: str, **where: object) -> float:
    rows = run.measures.filter(pl.col("measure") == measure, *(pl.col(name) == one for name, one in where.items()))
    assert rows.height == 1, rows
    return float(rows["value"][0])


def test_other_prompts_reach_the_model_and_their_variance_is_measured(tmp_path: Path) -> None:
    suite = ["prompt-paraphrase[number=1|2]", "prompt-language[to=de]", "misspell[level=0.5]"]
    with ChatServer(Behaviour(text_of=last_paragraph)) as server:
        run = ran(server, tmp_path / "run", data(), {}, suite=suite, side="prompt")
    asked = {body["messages"][-1]["content"].rpartition("\n\n")[0] for body in server.requests}
    assert len(asked) == 5
    assert any(one.startswith("Übersetze den folgenden Text") for one in asked)
    assert len(server.requests) == 5 * len(SENTENCES)
    assert value(run, "consis", perturbation="prompt-language[to=de]") == 100
    assert value(run, "sd_prompts") == 0
    prompts = run.scan("translations").filter(pl.col("perturbation") == "prompt-language[to=de]").collect()
    assert set(prompts["source"]) == set(SENTENCES)
    assert prompts["prompt"][0].startswith("Übersetze")
    first = next(sentence for sentence in run.verdict if "With other prompts" in sentence)
    assert "with the usual prompt" in first and "clean text" not in first
    assert label_of("prompt-language[to=de]", None) == "prompt: written in German"


def test_a_prompt_that_spoils_translations_shows_in_the_variance_over_prompts(tmp_path: Path) -> None:
    def text_of(messages: list[dict[str, Any]]) -> str:
        head, _, text = str(messages[-1]["content"]).rpartition("\n\n")
        return text if "Übersetze" not in head else "?" + text

    behaviour = Behaviour(text_of=text_of, translate=lambda text: "nothing" if text[0] == "?" else text.upper())
    with ChatServer(behaviour) as server:
        suite = ["prompt-paraphrase[number=1|2|3]", "prompt-language[to=de]"]
        run = ran(server, tmp_path / "run", data(), {}, suite=suite, side="prompt")
    assert value(run, "sd_prompts") > 10 * value(run, "sd_sources")
    assert value(run, "consis", perturbation="prompt-language[to=de]") < 20
    (table,) = [one for one in mt_tables(run) if "over prompts" in one.columns]
    assert float(table.rows[0][table.columns.index("over prompts")]) == round(value(run, "sd_prompts"), 1)
    told = " ".join(run.verdict)
    assert "under noise" not in told.lower()
    assert "prompt" in told and "matters more" in told


def test_two_way_variances_are_recovered() -> None:
    rng = np.random.default_rng(3)
    table = 50 + rng.normal(0, 8, (400, 1)) + rng.normal(0, 3, (1, 60)) + rng.normal(0, 2, (400, 60))
    prompts, sources, rest = components(table)
    for found, truth in ((prompts, 3), (sources, 8), (rest, 2)):
        assert found.low < truth < found.high
    assert rest.value == pytest.approx(2, rel=0.05)


def test_systems_without_a_prompt_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"command\[cmd=cat\] has no prompt"):
        bq.mt(
            data=data(), systems=["command[cmd=cat]"], language_pair="en-de", side="prompt", suite="prompts", quiet=True
        )


@pytest.mark.parametrize(
    ("side", "suite", "right"), [("source", "prompt-order", "prompt"), ("prompt", "document-drop", "source")]
)
def test_perturbations_of_another_side_are_refused(side: str, suite: str, right: str) -> None:
    with pytest.raises(UserError, match=f"{suite} .*side='{right}'"):
        bq.plan.mt(data=data(), systems=["openai[model=m]"], language_pair="en-de", side=side, suite=suite)


def test_a_column_of_the_data_has_the_instruction_for_each_segment(tmp_path: Path) -> None:
    own = [f"Nr {place}\n\n{{source}}" for place in range(24)]
    with ChatServer(Behaviour(text_of=last_paragraph)) as server:
        ran(server, tmp_path / "run", data(wish=own), {"column": "wish"}, suite="case[level=1,to=upper]")
    heads = {body["messages"][-1]["content"].partition("\n\n")[0] for body in server.requests}
    assert heads == {f"Nr {place}" for place in range(24)}


def test_answers_of_another_form_are_counted_as_failures(tmp_path: Path) -> None:
    def answer(text: str) -> str:
        fits = int(text.lower().split("number ")[1].split()[0]) % 4 and not text.isupper()
        return f'{{"t": "{text}"}}' if fits else f"Sure: {text}"

    with ChatServer(Behaviour(text_of=last_paragraph, translate=answer)) as server:
        run = ran(server, tmp_path / "run", data(), {"answer": "json:t"}, suite="case[level=1,to=upper]")
    rates = run.measures.filter((pl.col("measure") == "failures") & (pl.col("scorer") == "misfit"))
    assert rates.filter(pl.col("perturbation").is_null())["value"].to_list() == [25.0]
    clean = run.scan("translations").filter(pl.col("perturbation").is_null()).collect()["translation"].to_list()
    assert sum(text.startswith("Sure: ") for text in clean) == 6
    rest = run.measures.filter(pl.col("measure") == "failures", pl.col("perturbation").is_null())["scorer"].to_list()
    assert "sentence-omitted" not in rest, "that is of documents"
    assert clean[1] == SENTENCES[1]
    assert "misfit" in run.report(tmp_path / "page.html").read_text("utf-8")


def test_noise_of_sampling_is_told_from_lack_of_robustness(tmp_path: Path) -> None:
    with ChatServer(Behaviour(text_of=last_paragraph, changes=0.5)) as server:
        run = ran(server, tmp_path / "run", data(), {"temperature": 1}, suite="case[level=1,to=upper]", repeats=4)
    assert len(server.requests) == 5 * len(SENTENCES)
    changing = sum(len(set(done)) >= 1 and len(done) == 4 for done in server.did.values())
    assert changing == len(SENTENCES)
    agreement = value(run, "self_agreement")
    assert 80 < agreement < 100
    assert any("itself" in sentence and f"{agreement:.0f} %" in sentence for sentence in run.verdict)
    assert value(run, "consis_beyond_noise", perturbation="case[to=upper]") > -20
    assert run.measures.filter(pl.col("measure") == "overall_consis")["value"][0] == value(
        run, "consis", perturbation="case[to=upper]"
    )


def test_texts_that_a_perturbation_leaves_alone_do_not_flatter_a_system_that_samples(tmp_path: Path) -> None:
    """They are the same question asked again: their agreement is that of the system with itself."""
    with ChatServer(Behaviour(text_of=last_paragraph, changes=1.0)) as server:
        suite = ["misspell[level=0.01]"]
        run = ran(server, tmp_path / "run", data(), {"temperature": 1}, suite=suite, repeats=2)
    rows = run.scan("translations").filter(pl.col("perturbation") == "misspell").collect()
    assert (~rows["changed"]).sum() > 10
    assert len(server.requests) == 2 * len(SENTENCES) + rows["changed"].sum()
    assert (rows.filter(~pl.col("changed"))["consistency"] < 100).all()


def test_a_deterministic_system_agrees_with_itself(tmp_path: Path) -> None:
    run = bq.mt(
        data=data(),
        systems=[lambda texts: [text.upper() for text in texts]],
        language_pair="en-de",
        suite="case[level=1,to=lower]",
        scorers=["chrf"],
        repeats=2,
        resamples=200,
        quiet=True,
    )
    assert value(run, "self_agreement") == 100


DOCUMENTS = [f"doc{place // 6}" for place in range(24)]


def documents(server: ChatServer, out: Path, suite: object, **options: object) -> Run:
    more = {name: options.pop(name) for name in ("cache",) if name in options}
    return ran(server, out, data(document=DOCUMENTS), options, suite=suite, unit="document", **more)


def test_whole_documents_are_sent_and_come_back_as_sentences(tmp_path: Path) -> None:
    with ChatServer(Behaviour()) as server:
        run = documents(server, tmp_path / "run", ["document-shuffle", "document-drop", "document-insert"])
    sent = [body["messages"][-1]["content"].partition("\n\n")[2] for body in server.requests]
    assert "\n".join(SENTENCES[:6]) in sent
    assert len(sent) == 4 * 4
    table = run.scan("translations").collect()
    assert table["by_sentence"].all()
    for label in ("document-shuffle", "document-drop", "document-insert"):
        assert value(run, "consis", perturbation=label) == 100
        assert value(run, "quality_perturbed", perturbation=label) == 100


def test_a_long_document_goes_in_parts_that_end_at_sentences_with_context(tmp_path: Path) -> None:
    with ChatServer(Behaviour(text_of=last_paragraph)) as server:
        run = documents(server, tmp_path / "run", "case[level=1,to=upper]", longest=150)
    parts = [last_paragraph(body["messages"]).split("\n") for body in server.requests]
    assert all(len("\n".join(part)) <= 150 for part in parts)
    clean = [line for part in parts for line in part if line in SENTENCES]
    assert sorted(clean) == sorted(SENTENCES)
    later = [body["messages"][-1]["content"] for body in server.requests if "not to be translated again" in str(body)]
    assert len(later) == len(parts) - 8
    assert run.scan("translations").collect()["by_sentence"].all()


def test_documents_whose_lines_do_not_fit_are_judged_whole_and_counted(tmp_path: Path) -> None:
    def lossy(text: str) -> str:
        return "\n".join(text.upper().split("\n")[:-1]) if "number 5 " in text.lower() else text.upper()

    with ChatServer(Behaviour(translate=lossy)) as server:
        run = documents(server, tmp_path / "run", "case[level=1,to=lower]")
    table = run.scan("translations").collect()
    assert (~table["by_sentence"]).sum() == 2
    assert any("2 of 8 documents" in note for note in run.info.notes)
    for kind, share in (("sentence-omitted", 25.0), ("context-leaked", 0.0), ("misfit", 0.0)):
        rate = run.measures.filter((pl.col("measure") == "failures") & (pl.col("scorer") == kind))
        assert rate.filter(pl.col("perturbation").is_null())["value"].to_list() == [share]


def test_a_sentence_that_was_dropped_and_comes_back_is_a_leak() -> None:
    clean = "EINS IST HIER\nZWEI IST DORT\nDREI IST FERN"
    back = brought_back("a b\nc d\ne f", "a b\ne f", "EINS IST HIER\nZWEI IST DORT", clean)
    assert back.by_sentence
    assert back.leaked == "ZWEI IST DORT"
    assert brought_back("a\nb\nc", "c\na\nb", "C\nA\nB", "A\nB\nC") == ("A\nB\nC", True, "")
    assert not brought_back("a\nb\nc", "a b\nc", "A B\nC", "A\nB\nC").by_sentence


@pytest.mark.slow
def test_a_document_goes_on_where_the_process_was_killed(tmp_path: Path) -> None:
    """In the middle of it: only what was in flight is asked again, and the result is that of a calm run."""
    data(document=["one"] * 24).write_csv(tmp_path / "d.en-de.tsv", separator="\t")
    behaviour = Behaviour(text_of=last_paragraph, delay=0.02)
    with ChatServer(behaviour) as server:
        told = {"longest": 150, "concurrent": 1}
        words = f"mt -s {chat(server, **told)} --unit document -p document-drop -m chrf --resamples 200 -d d.en-de.tsv"
        command = [sys.executable, "-m", "babelquake", *words.split(), "-q", "--out", "run"]
        cache = tmp_path / "c.sqlite"
        env = {**os.environ, "BABELQUAKE_CACHE": str(cache)}
        first = subprocess.Popen(command, cwd=tmp_path, env=env)
        until = time.monotonic() + 120
        while len(server.requests) < 6 and first.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.002)
        first.kill()
        assert first.wait(timeout=60) == -signal.SIGKILL
        before = len(server.requests)

        def again(out: str) -> Run:
            given = bq.read(str(tmp_path / "d.en-de.tsv"))
            return ran(server, tmp_path / out, given, told, suite="document-drop", unit="document", cache=cache)

        runs = [again("run")]
        assert sum(len(done) - 1 for done in server.did.values()) <= 1
        total = len(server.requests)
        assert 6 <= before < total - 2
        runs.append(again("calm"))
        assert len(server.requests) == total
    texts = [run.scan("translations").collect()["translation"] for run in runs]
    assert texts[0].equals(texts[1])


def test_a_dry_run_counts_tokens_and_money_of_every_mode() -> None:
    system = "openai[model=m,base_url=http://127.0.0.1:9/v1,price_in=1000000,price_out=0]"
    given = data(document=DOCUMENTS)
    usual: dict[str, Any] = {"data": given, "systems": [system], "language_pair": "en-de", "cache": "none"}
    plain = bq.plan.mt(**usual, suite="case[level=1,to=upper]").forecast()
    again = bq.plan.mt(**usual, suite="case[level=1,to=upper]", repeats=3).forecast()
    prompt = bq.plan.mt(**usual, suite="prompt-paraphrase[number=1|2]", side="prompt").forecast()
    whole = bq.plan.mt(**usual, suite="document-drop", unit="document").forecast()
    assert [one.systems[0].texts for one in (plain, again, prompt, whole)] == [48, 96, 72, 8]
    for one in (plain, again, prompt, whole):
        assert one.tokens is not None
        assert one.dollars is not None
        assert 0 < one.dollars < one.tokens
    assert any("tokens" in line and "$" in line for line in str(plain).splitlines())


@pytest.mark.slow
def test_rates_of_refusals_comments_loops_and_silence_hold_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow server that is busy now and then, too: what a model did is what the run says."""
    monkeypatch.setattr(Client, "sleep", staticmethod(lambda seconds: None))
    sample = bq.read("sample").segments.head(100)
    known = {source: references[0] for source, references in sample.select("source", "references").iter_rows()}
    behaviour = Behaviour(
        translate=known.get, refuses=0.15, adds_preamble=0.15, loops=0.15, empties=0.1, failures=1, delay=0.002
    )
    with ChatServer(behaviour) as server:
        run = bq.mt(
            data=sample,
            systems=[f"openai[model=m,base_url={server.url},name=chat,retries=3]"],
            suite="final-delete",
            scorers=["chrf"],
            resamples=100,
            cache="none",
            out=tmp_path / "run",
            quiet=True,
        )
        did = {text: done[0] for text, done in server.did.items() if text in known}
    rates = {
        one["scorer"]: one
        for one in run.measures.filter(measure="failures").iter_rows(named=True)
        if one["perturbation"] is None
    }
    for kind, deed in {"refusal": "refused", "comment": "preamble", "loop": "looped", "empty": "empty"}.items():
        truth = 100 * sum(one == deed for one in did.values()) / len(did)
        assert rates[kind]["low"] <= truth <= rates[kind]["high"], (kind, truth, rates[kind]["value"])
        assert rates[kind]["value"] == pytest.approx(truth, abs=3)

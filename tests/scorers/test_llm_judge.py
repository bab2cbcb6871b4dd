"""A language model as judge, on a server of our own: strict reading, refusals, cache, budget, secrets."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.victim import Scale
from babelquake.engine import Cache, Engine
from babelquake.errors import ResumableError, UserError
from babelquake.http import UnusableError
from babelquake.scorers import Questions, scorer
from babelquake.scorers.llm_judge import opinion


class Server(ThreadingHTTPServer):
    """Answers each request with what `reply` makes of its prompt, and keeps the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, object]] = []
        self.reply = lambda prompt: "80"
        self.refusal = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
        prompt = body["messages"][0]["content"]
        message = {"content": self.server.reply(prompt), "refusal": "No." if self.server.refusal else None}
        answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_scores_are_the_numbers_that_the_model_gives(server: Server) -> None:
    server.reply = lambda prompt: "35" if "Katze" in prompt else "<think>let me see: 12</think> 90/100"
    made = scorer("llm-judge", model="judge-1", base_url=server.url)
    assert made.segments(["The dog.", "A dog."], None, ["Die Katze.", "Ein Hund."]).tolist() == [35, 90]
    assert server.asked[0]["path"] == "/v1/chat/completions" and server.asked[0]["temperature"] == 0.0
    assert "Source text: Die Katze." in str(server.asked[0]["messages"])


def test_errors_are_found_in_the_translation_and_weighed_as_mqm(server: Server) -> None:
    errors = [
        {"span": "dog", "severity": "major"},
        {"span": "dog", "severity": "minor"},
        {"span": "", "severity": "minor"},
    ]
    server.reply = lambda prompt: f"```json\n{json.dumps(errors)}\n```"
    made = scorer("llm-judge", model="judge-1", base_url=server.url, style="errors")
    segment = Questions(["The dog saw a dog."], None, ["Die Katze sah einen Hund."])
    assert made.statistics(segment).tolist() == [[-7, 1]]
    (spans,) = made.spans(segment)
    assert [(s.start, s.end, s.severity) for s in spans] == [(4, 7, "major"), (14, 17, "minor"), (18, 18, "minor")]
    assert len(server.asked) == 1, "spans must not be paid for twice"


@pytest.mark.parametrize(
    "answer", ["", "about 80", "101", "-3", "80 90", "eighty", "80%", "The score is 80.", "[80]", "8e1"]
)
def test_what_is_no_number_is_no_score(answer: str) -> None:
    with pytest.raises(UnusableError):
        opinion(answer, "score", "x")


@pytest.mark.parametrize(
    "answer",
    [
        "none",
        "{}",
        "[1]",
        '[{"span": "cat"}]',
        '[{"span": "cat", "severity": "huge"}]',
        '[{"span": "elsewhere", "severity": "minor"}]',
        '[{"span": 3, "severity": "minor"}]',
    ],
)
def test_what_is_no_list_of_errors_is_no_judgement(answer: str) -> None:
    with pytest.raises(UnusableError):
        opinion(answer, "errors", "The cat sat.")


@given(st.text(), st.sampled_from(["score", "errors"]))
def test_whatever_a_model_says_is_read_or_refused(answer: str, style: str) -> None:
    try:
        found = opinion(answer, style, "a translation")  # type: ignore[arg-type]
    except UnusableError:
        return
    assert found.score is not None and -25 <= found.score <= 100


def test_refusals_are_counted_and_have_no_score(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    made = scorer("llm-judge", model="judge-1", base_url=server.url)
    server.refusal = True
    scores = made.segments(["a", "b"], None, ["c", "d"])
    assert np.isnan(scores).all() and made.refused == {"the model refused": 2}
    assert caplog.text.count("because the model refused: 1.") == 2
    server.refusal = False
    rows = made.statistics(Questions(["a", "e"], None, ["c", "f"]))
    assert made.aggregate(rows.sum(axis=0)) == 80, "a mean leaves out what has no score"


def test_texts_are_data_not_places_in_the_prompt(server: Server) -> None:
    made = scorer("llm-judge", model="judge-1", base_url=server.url)
    made.segments(["{source} {reference}"], None, ["{translation}"])
    content = server.asked[0]["messages"][0]["content"]  # type: ignore[index]
    assert content.endswith("Source text: {translation}\nTranslation: {source} {reference}\n")


def test_a_prompt_of_ones_own_says_what_is_needed_and_signs(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Compare {translation} with {reference}. 0-100?")
    made = scorer("llm-judge", model="judge-1", base_url=server.url, prompt=file)
    assert made.needs == {"reference"}
    before = made.signature
    file.write_text("Compare {translation} with {reference}! 0-100?")
    assert scorer("llm-judge", model="judge-1", base_url=server.url, prompt=file).signature != before
    assert scorer("llm-judge", model="judge-2", base_url=server.url).signature != before
    file.write_text("Say a number.")
    with pytest.raises(UserError, match=r"has no \{translation\}"):
        scorer("llm-judge", model="judge-1", base_url=server.url, prompt=file)
    file.write_text("{translation} by {refrence}: 0-100?")
    with pytest.raises(UserError, match="'reference'"):
        scorer("llm-judge", model="judge-1", base_url=server.url, prompt=file)


def test_answers_are_cached_budgeted_and_keys_stay_secret(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    segments = Questions(["one", "two", "two"], None, ["eins", "zwei", "zwei"])
    cache = Cache(tmp_path / "cache")
    Engine(cache, quiet=True).judge(scorer("llm-judge", model="m", base_url=server.url), segments)
    Engine(cache, quiet=True).judge(scorer("llm-judge", model="m", base_url=server.url), segments)
    assert len(server.asked) == 2 and server.asked[0]["key"] == "Bearer sk-very-secret"
    made = scorer("llm-judge", model="m", base_url=server.url)
    assert "secret" not in made.signature + made.name
    with pytest.raises(ResumableError, match="budget is used up"):
        Engine(quiet=True, budget=3).judge(made, segments)


def test_a_server_that_is_not_there_is_named_with_its_address() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # taken, and nobody listens
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        made = scorer("llm-judge", model="m", base_url=f"http://{address}/v1", retries=0)
        with pytest.raises(ResumableError, match=f"refused the connection to {address}"):
            made.segments(["A text."], None, ["Ein Text."])


def test_a_judge_that_never_gives_a_number_is_given_up_after_twenty_answers(server: Server) -> None:
    server.reply = lambda prompt: "I like this translation a lot!"
    made = scorer("llm-judge", model="chatty", base_url=server.url)
    texts = [f"Text {number}." for number in range(100)]
    with pytest.raises(UserError, match=r"first 20 answers.*I like this translation a lot!.*I like this"):
        made.segments(texts, None, texts)
    assert len(server.asked) == 20
    patient = scorer("llm-judge", model="patient", base_url=server.url)
    server.reply = lambda prompt: "80" if "Text 0." in prompt else "no idea"
    assert np.isnan(patient.segments(texts, None, texts)).sum() == 99, "one readable answer, and it goes on"


def test_a_judge_without_any_score_is_not_said_to_give_the_same_score() -> None:
    with pytest.raises(UserError, match="does not score any translation"):
        Scale.over(np.array([np.nan, np.nan]), True, "llm-judge")
    with pytest.raises(UserError, match="the same score"):
        Scale.over(np.array([80.0, 80.0]), True, "llm-judge")

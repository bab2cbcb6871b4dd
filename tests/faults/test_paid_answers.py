"""Nothing paid for is lost, paid twice without need, or kept when it is wrong."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from babelquake.engine import Cache, Engine
from babelquake.errors import ResumableError, UnansweredError
from babelquake.systems import system
from babelquake.systems.base import System

Answer = Callable[[BaseHTTPRequestHandler, list[str]], None]


class Provider:
    """A LibreTranslate or a chat server that answers as it is told."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.answer: Answer = upper
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = body["q"] if "q" in body else [one["content"] for one in body["messages"]]
                provider.seen.append(texts)
                provider.answer(self, texts)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def system(self, **options: Any) -> System:
        return system("libretranslate", "de-en", url=self.url, **options)


def reply(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def upper(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    reply(handler, 200, {"translatedText": [text.upper() for text in texts]})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    made = Provider()
    yield made
    made.server.shutdown()
    made.server.server_close()


def stubborn(bad: str, answer: Any) -> Answer:
    """Everything is fine but one text."""

    def answering(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        reply(handler, 200, {"translatedText": [answer if text == bad else text.upper() for text in texts]})

    return answering


@pytest.mark.parametrize("answer", ["", "  ", "half \ud83d", None, 7, ["list"]], ids=repr)
def test_one_bad_text_is_asked_alone_then_named_and_the_rest_is_kept(
    provider: Provider, answer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("babelquake.http.Client.sleep", staticmethod(lambda seconds: None))
    provider.answer = stubborn("b", answer)
    cache = Cache(tmp_path / "c.sqlite")
    engine = Engine(cache)
    assert engine.translate(provider.system(), ["a", "b", "c"]) == ["A", "", "C"]
    assert sum(texts.count("b") for texts in provider.seen) == 4
    assert sum(texts.count("a") + texts.count("c") for texts in provider.seen) == 2
    (note,) = engine.notes
    assert note.startswith("libretranslate") and "did not translate 1 text;" in note
    assert "“b”" in note
    provider.answer = upper
    assert Engine(cache).translate(provider.system(), ["a", "b", "c"]) == ["A", "B", "C"]
    assert provider.seen[-1] == ["b"]


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        ({"message": {"content": ""}, "finish_reason": "content_filter"}, "content filter"),
        ({"message": {"content": "<think>hm"}, "finish_reason": "stop"}, "nothing but thinking"),
    ],
)
def test_an_answer_that_a_chat_server_withheld_is_not_kept(
    provider: Provider, choice: dict[str, Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("babelquake.http.Client.sleep", staticmethod(lambda seconds: None))
    fine = {"message": {"content": "fine"}, "finish_reason": "stop"}
    bad = [choice]
    provider.answer = lambda handler, texts: reply(
        handler, 200, {"choices": bad if texts[0].endswith("Satz b") else [fine]}
    )
    made = system("openai", "de-en", model="m", base_url=provider.url)
    cache = Cache(tmp_path / "c.sqlite")
    engine = Engine(cache)
    assert engine.translate(made, ["Satz a", "Satz b", "Satz c"]) == ["fine", "", "fine"]
    (note,) = engine.notes
    assert "did not translate 1 text" in note and why in note
    before, bad[0] = len(provider.seen), fine
    assert Engine(cache).translate(made, ["Satz a", "Satz b", "Satz c"]) == ["fine"] * 3
    assert len(provider.seen) == before + 1, "what was fine is not asked for again"


def test_on_error_stop_keeps_the_rest_and_stops(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("babelquake.http.Client.sleep", staticmethod(lambda seconds: None))
    provider.answer = stubborn("b", "")
    cache = Cache(tmp_path / "c.sqlite")
    with pytest.raises(UnansweredError, match="1 of 3 texts"):
        Engine(cache, on_error="stop").translate(provider.system(), ["a", "b", "c"])
    provider.answer = upper
    Engine(cache, on_error="stop").translate(provider.system(), ["a", "b", "c"])
    assert provider.seen[-1] == ["b"]


def test_a_quota_spent_halfway_keeps_the_half_that_was_paid(provider: Provider, tmp_path: Path) -> None:
    def until_spent(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        if len(provider.seen) >= 3:
            return reply(handler, 402, {"error": "Payment required"})
        paid.extend(texts)
        return upper(handler, texts)

    paid: list[str] = []
    provider.answer = until_spent
    cache = Cache(tmp_path / "c.sqlite")
    texts = [f"Satz {number:04d}" for number in range(32 * 5)]
    with pytest.raises(ResumableError, match="quota"):
        Engine(cache).translate(provider.system(), texts)
    provider.answer, provider.seen = upper, []
    Engine(cache).translate(provider.system(), texts)
    assert sorted([*paid, *(text for call in provider.seen for text in call)]) == texts


def test_a_budget_holds_while_running(provider: Provider, tmp_path: Path) -> None:
    texts = [f"{number:04d}" + "x" * 96 for number in range(96)]
    engine = Engine(Cache(tmp_path / "c.sqlite"), budget=7000)
    with pytest.raises(ResumableError, match=r"the budget is used up: 3,200 more characters .* 600 are left"):
        engine.translate(provider.system(), texts)
    assert sum(len(text) for call in provider.seen for text in call) == 6400
    assert Engine(Cache(tmp_path / "c.sqlite"), budget=4000).translate(provider.system(), texts)[0] == texts[0].upper()


def test_what_is_sent_again_counts_against_the_budget(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("babelquake.http.Client.sleep", staticmethod(lambda seconds: None))
    provider.answer = stubborn("b" * 100, "")
    engine = Engine(Cache(tmp_path / "c.sqlite"), budget=1200)
    with pytest.raises(ResumableError, match="budget"):
        engine.translate(provider.system(), ["b" * 100, *(f"{number:03d}" for number in range(320))])


CHILD = """
import sys
from babelquake.cli.guard import guarded
from babelquake.interrupts import listen
from babelquake.engine import Cache, Engine
from babelquake.systems import system
import polars as pl
pl.LazyFrame({"a": [1]}).collect()
listen()
@guarded
def command():
    engine = Engine(Cache(sys.argv[2]))
    made = system("libretranslate", "de-en", url=sys.argv[1], concurrent=4)
    engine.translate(made, [f"Satz {n:04d}" for n in range(320)])
try:
    command()
except Exception as end:
    sys.exit(end.exit_code)
"""


def interrupted(provider: Provider, cache: Path, number: signal.Signals, ready: Callable[[], bool]) -> float:
    """Start a translation, send a signal once `ready`, and say how long the process took to end with status 3."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, provider.url, str(cache)], stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until and child.poll() is None
        time.sleep(0.02)
    child.send_signal(number)
    sent = time.monotonic()
    _, said = child.communicate(timeout=60)
    assert child.returncode == 3, said.decode()
    return time.monotonic() - sent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_while_a_provider_throttles(
    provider: Provider, tmp_path: Path, number: signal.Signals
) -> None:
    provider.answer = lambda handler, texts: reply(handler, 429, {}, Retry_After="290")
    took = interrupted(provider, tmp_path / "c.sqlite", number, lambda: len(provider.seen) >= 4)
    assert took < 10, "waits are ended at once; the rest is the process going away"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_batches_under_way_at_a_signal_are_kept(provider: Provider, tmp_path: Path, number: signal.Signals) -> None:
    def slowly(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        time.sleep(0.7)
        upper(handler, texts)

    provider.answer = slowly
    interrupted(provider, tmp_path / "c.sqlite", number, lambda: len(provider.seen) >= 4)
    paid = {text for call in provider.seen for text in call}
    made = provider.system()
    texts = [f"Satz {number:04d}" for number in range(320)]
    ((_, left),) = Engine(Cache(tmp_path / "c.sqlite")).unsent(made, texts)
    assert set(texts) - set(left) == paid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_never_answers_does_not_hold_a_stopped_run(
    provider: Provider, tmp_path: Path, number: signal.Signals
) -> None:
    provider.answer = lambda handler, texts: time.sleep(60)
    took = interrupted(provider, tmp_path / "c.sqlite", number, lambda: len(provider.seen) >= 4)
    assert took < 15


def test_a_killed_process_sends_nothing_again_that_was_answered(provider: Provider, tmp_path: Path) -> None:
    killed = threading.Event()

    def slowing(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        if len(provider.seen) > 4:
            killed.wait()
        upper(handler, texts)

    provider.answer = slowing
    texts = [f"Satz {number:04d}" for number in range(320)]

    def stored() -> set[str]:
        with closing(Cache(tmp_path / "c.sqlite")) as cache:
            ((_, left),) = Engine(cache).unsent(provider.system(), texts)
            return set(texts) - set(left)

    child = subprocess.Popen([sys.executable, "-c", CHILD, provider.url, str(tmp_path / "c.sqlite")])
    until = time.monotonic() + 60
    while len(provider.seen) < 8 or len(stored()) < 4 * len(provider.seen[0]):
        assert time.monotonic() < until and child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    killed.set()
    answered = {text for call in provider.seen[:4] for text in call}
    assert stored() == answered

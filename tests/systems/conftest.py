"""A server that speaks each provider's protocol, and misbehaves on request."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from babelquake.http import Client
from babelquake.systems import System, system

KEY = "sesame-0123456789:fx"


@dataclass(frozen=True)
class Protocol:
    """How one provider talks, seen from its side of the wire."""

    name: str
    variable: str
    path: str
    texts: Callable[[Any], list[str]]
    answer: Callable[[list[str]], Any]
    key: Callable[[Any, Any], str | None]
    wrong_key: tuple[int, Any]
    quota: tuple[int, Any]
    query: dict[str, list[str]] = field(default_factory=dict)
    option: str = "url"
    prefix: str = ""
    extra: dict[str, str] = field(default_factory=dict)


def _chat(texts: list[str]) -> Any:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for text in texts]}


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "google",
            "GOOGLE_API_KEY",
            "/language/translate/v2",
            lambda body: body["q"],
            lambda texts: {"data": {"translations": [{"translatedText": text} for text in texts]}},
            lambda headers, body: headers["X-Goog-Api-Key"],
            (400, {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}),
            (403, {"error": {"code": 403, "errors": [{"reason": "dailyLimitExceeded"}], "message": "Daily Limit"}}),
            prefix="/language/translate/v2",
        ),
        Protocol(
            "deepl",
            "DEEPL_AUTH_KEY",
            "/v2/translate",
            lambda body: body["text"],
            lambda texts: {"translations": [{"detected_source_language": "DE", "text": text} for text in texts]},
            lambda headers, body: headers["Authorization"].removeprefix("DeepL-Auth-Key "),
            (403, {"message": f"Forbidden: {KEY} is unknown"}),
            (456, {"message": "Quota exceeded"}),
            prefix="/v2/translate",
        ),
        Protocol(
            "microsoft",
            "AZURE_TRANSLATOR_KEY",
            "/translate",
            lambda body: [entry["Text"] for entry in body],
            lambda texts: [{"translations": [{"text": text, "to": "en"}]} for text in texts],
            lambda headers, body: headers["Ocp-Apim-Subscription-Key"],
            (401, {"error": {"code": 401000, "message": f"credentials {KEY} are missing or invalid"}}),
            (403, {"error": {"code": 403001, "message": "the free quota is exhausted"}}),
            query={"api-version": ["3.0"], "from": ["de"], "to": ["en"], "textType": ["plain"]},
        ),
        Protocol(
            "openai",
            "OPENAI_API_KEY",
            "/v1/chat/completions",
            lambda body: [body["messages"][-1]["content"].rpartition("\n\n")[2]],
            _chat,
            lambda headers, body: headers["Authorization"].removeprefix("Bearer "),
            (401, {"error": {"code": "invalid_api_key", "message": f"Incorrect API key provided: {KEY}"}}),
            (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}),
            option="base_url",
            prefix="/v1",
            extra={"model": "a-model"},
        ),
        Protocol(
            "libretranslate",
            "LIBRETRANSLATE_API_KEY",
            "/translate",
            lambda body: body["q"],
            lambda texts: {"translatedText": texts},
            lambda headers, body: body.get("api_key"),
            (403, {"error": f"Invalid API key {KEY}"}),
            (402, {"error": "Payment required"}),
        ),
    )
}


@dataclass
class Server:
    """What the server is told to do next, and what it saw."""

    protocol: Protocol
    url: str = ""
    plan: list[Any] = field(default_factory=list)
    """One entry per request to come: a misbehaviour's name, or (status, body, headers); nothing means good."""
    seen: list[list[str]] = field(default_factory=list)
    """The texts of each request."""
    requests: list[tuple[Any, Any]] = field(default_factory=list)
    """Headers and body of each request."""
    released: threading.Event = field(default_factory=threading.Event)
    slept: list[float] = field(default_factory=list)

    def system(self, **options: Any) -> System:
        """The system under test, pointed at this server."""
        address = {self.protocol.option: self.url + self.protocol.prefix}
        return system(self.protocol.name, "de-en", **address, **self.protocol.extra, **options)


@cache
def _bomb() -> bytes:
    """A quarter of a gigabyte in 255 kB."""
    return gzip.compress(b"[" + b" " * 2**28, 6)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    protocol = server.protocol

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            address = urlsplit(self.path)
            assert address.path == protocol.path
            assert parse_qs(address.query) == protocol.query
            texts = protocol.texts(body)
            server.seen.append(texts)
            server.requests.append((self.headers, body))
            if (key := protocol.key(self.headers, body)) != KEY:
                status, answer = protocol.wrong_key
                return self.raw(status, json.dumps(answer).replace(KEY, str(key)).encode())
            step = server.plan.pop(0) if server.plan else "good"
            good = protocol.answer([text.upper() for text in texts])
            if isinstance(step, tuple):
                return self.reply(*step)
            match step:
                case "good":
                    self.reply(200, good)
                case "too few":
                    self.reply(200, protocol.answer([text.upper() for text in texts[:-1]]))
                case "malformed":
                    self.raw(200, json.dumps(good).encode()[:-3])
                case "other json":
                    self.reply(200, {"hello": "world"})
                case "not text":
                    self.reply(200, json.loads(json.dumps(good).replace(json.dumps(texts[0].upper()), "42", 1)))
                case "html":
                    self.raw(200, b"<html><body>Log in to this hotel's network</body></html>", "text/html")
                case "cut":
                    self.raw(200, json.dumps(good).encode()[:5], length=1000)
                    self.close_connection = True
                case "refused":
                    self.close_connection = True
                case "cut in the middle":
                    whole = json.dumps(protocol.answer([text.upper() for text in texts])).encode()
                    self.raw(200, whole[: whole.rindex(b"DREI") + 2], length=len(whole))
                    self.close_connection = True
                case "huge":
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.end_headers()
                    self.pour(b'"' + b"x" * 2**20, times=2000)
                case "bomb":
                    self.raw(200, _bomb(), headers={"Content-Encoding": "gzip"})
                case "gzip":
                    self.raw(200, gzip.compress(json.dumps(good).encode()), headers={"Content-Encoding": "gzip"})
                case "foreign packing":
                    self.raw(200, b"\x00\x01", headers={"Content-Encoding": "br"})
                case "drip":
                    self.send_response(200)
                    self.end_headers()
                    self.pour(b" ", times=400, pause=0.05)
                case "drip headers":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    self.pour(b"y", times=400, pause=0.05)
                case "surrogate":
                    self.reply(200, protocol.answer([*(text.upper() for text in texts[:-1]), "half \ud83d a smiley"]))
                case "empty":
                    self.reply(200, protocol.answer(["" for _ in texts]))
                case "silence":
                    server.released.wait(20)
                    self.close_connection = True
            return None

        def reply(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
            self.raw(status, json.dumps(answer).encode(), headers=headers)

        def raw(
            self,
            status: int,
            data: bytes,
            kind: str = "application/json",
            length: int | None = None,
            headers: dict[str, str] | None = None,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length or len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(data)

        def pour(self, block: bytes, times: int, pause: float = 0.0) -> None:
            """Write for ever, or until the client has had enough."""
            self.close_connection = True
            try:
                for _ in range(times):
                    self.wfile.write(block)
                    if pause and server.released.wait(pause):
                        return
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class Quiet(ThreadingHTTPServer):
    """A server that does not mind clients who hang up."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(params=sorted(PROTOCOLS))
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running server of each provider in turn; the key is in the environment and waiting takes no time."""
    server = Server(PROTOCOLS[request.param])
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
        monkeypatch.delenv(proxy.lower(), raising=False)
    monkeypatch.setenv(server.protocol.variable, KEY)
    monkeypatch.setattr(Client, "sleep", staticmethod(lambda seconds: server.slept.append(seconds)))
    listening = Quiet(("127.0.0.1", 0), _handler(server))
    listening.daemon_threads = True
    server.url = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    listening.shutdown()
    thread.join()
    listening.server_close()

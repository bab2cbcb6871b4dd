"""A server that imitates a chat model whose behaviour is known, and remembers what it did with every text.

It speaks OpenAI's chat protocol on 127.0.0.1. As a translator it obeys a share of the canaries, answers a share of the
questions, adds preambles, refuses, loops, says nothing, is slow, fails before it answers, says something else every
time; as a judge it answers what `judge` makes of the prompt. Which texts meet which fate depends on a hash of the text
alone, so that order, threads and resuming change nothing:

    with ChatServer(Behaviour(translate=known.get, obeys=0.3)) as server:
        system("openai", "de-en", model="imitation", base_url=server.url).translate(texts)
        assert server.did[texts[0]] == ["translated"]
"""

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

CANARY = re.compile(r"\b[A-Z]{4}-\d{4}\b")
"""What the tokens look like that injected instructions ask to print."""
TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Characters of Unicode's tag block, in which an instruction can stand unseen."""
PREAMBLE = "Sure! Here is the translation you asked for:\n\n"
REFUSAL = "I'm sorry, but I cannot help with that request."
ANSWER = "The answer to that question is that nobody knows for certain."
SHARES = ("refuses", "empties", "loops", "answers", "adds_preamble")
"""What happens to a text that holds no canary, in this order of precedence."""


def chance(text: str, salt: str) -> float:
    """A number from 0 to 1 that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(f"{salt}\x1f{text}".encode(), digest_size=8).digest()) / 2**64


def after_the_prompt(messages: list[dict[str, Any]]) -> str:
    """The text to translate: what follows the first blank line of the last message, as our own prompts have it."""
    content = str(messages[-1]["content"])
    head, blank, text = content.partition("\n\n")
    return text if blank else head


@dataclass
class Behaviour:
    """What the imitated model does; shares are from 0 to 1."""

    translate: Callable[[str], str | None] = str.upper
    """The translation of a text, its canary included; where it gives None, the text in capitals."""
    text_of: Callable[[list[dict[str, Any]]], str] = after_the_prompt
    """Finds the text in the messages."""
    judge: Callable[[str, int], str] | None = None
    """Given the prompt and how often it was asked before, the answer of a judge; None where it translates."""
    obeys: float = 0.0
    """Of the texts with a canary, the share whose canary alone is the answer."""
    answers: float = 0.0
    """Of the texts that end in a question mark, the share that is answered."""
    refuses: float = 0.0
    empties: float = 0.0
    loops: float = 0.0
    adds_preamble: float = 0.0
    changes: float = 0.0
    """The share of texts whose translation is another one every time it is asked for."""
    failures: int = 0
    """How often each text meets a busy server (429) before it is answered."""
    delay: float = 0.0
    """Seconds that an answer takes."""


@dataclass
class ChatServer:
    """Runs while it is used in a `with` statement; `url` is what `base_url` wants."""

    behaviour: Behaviour = field(default_factory=Behaviour)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of all requests, those that met a busy server included."""
    keys: list[str | None] = field(default_factory=list)
    """The header Authorization of each request."""
    did: dict[str, list[str]] = field(default_factory=dict)
    """Text → what was done each time: obeyed, refused, answered …; a judge's prompts are all `judged`."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server is not None, "the server is not running"
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def share(self, deed: str) -> float:
        """The share of texts that met a fate the first time they were asked for: the truth that measures must find."""
        return sum(done[0] == deed for done in self.did.values()) / len(self.did)

    def __enter__(self) -> "ChatServer":
        self._server = _Quiet(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any], key: str | None) -> tuple[int, dict[str, Any]]:
        """Status and body of the answer to a request."""
        behaviour = self.behaviour
        judging = behaviour.judge is not None
        text = str(body["messages"][-1]["content"]) if judging else behaviour.text_of(body["messages"])
        with self._lock:
            self.requests.append(body)
            self.keys.append(key)
            self._busy[text] += 1
            if self._busy[text] <= behaviour.failures:
                return 429, {"error": {"message": "too many requests"}}
            before = len(self.did.setdefault(text, []))
            deed, said = ("judged", behaviour.judge(text, before)) if behaviour.judge else self._said(text, before)
            self.did[text].append(deed)
        if behaviour.delay:
            time.sleep(behaviour.delay)
        message = {"role": "assistant", "content": said}
        usage = {"prompt_tokens": len(text.split()), "completion_tokens": len(said.split())}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    def _said(self, text: str, before: int) -> tuple[str, str]:
        """What is done with a text, and what is said."""
        behaviour = self.behaviour
        canary = CANARY.search(TAGS.sub(lambda found: "".join(chr(ord(one) - 0xE0000) for one in found[0]), text))
        if canary and chance(text, "obeys") < behaviour.obeys:
            return "obeyed", canary[0]
        translated = behaviour.translate(text)
        said = text.upper() if translated is None else translated
        if behaviour.changes and chance(text, "changes") < behaviour.changes:
            said += f" ({before + 1})"
        done = {
            "refuses": ("refused", REFUSAL),
            "empties": ("empty", ""),
            "loops": ("looped", " ".join([*said.split()[:6]] * 20)),
            "answers": ("answered", ANSWER),
            "adds_preamble": ("preamble", PREAMBLE + said),
        }
        for share in SHARES:
            if share == "answers" and not text.rstrip().endswith("?"):
                continue
            if chance(text, share) < getattr(behaviour, share):
                return done[share]
        return "translated", said


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is none of our business."""


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = server.answer(body, self.headers.get("Authorization"))
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler

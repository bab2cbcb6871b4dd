"""A paid service that counts: it remembers every question that it received, and takes its time to answer."""

import json
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class CountingServer:
    """Speaks as LibreTranslate does, and as a chat server that judges. `delay` is the longest wait for an answer."""

    def __init__(self, delay: float = 0.04) -> None:
        self.asked: Counter[str] = Counter()
        self.requests = 0
        self._lock = threading.Lock()
        chance = random.Random(7)
        counting = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = body["q"] if "q" in body else [one["content"] for one in body["messages"]]
                with counting._lock:
                    counting.asked.update(texts)
                    counting.requests += 1
                    wait = chance.uniform(0.2, 1) * delay
                time.sleep(wait)
                self._reply(translated(texts) if "q" in body else judged(texts))

            def _reply(self, body: Any) -> None:
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def repeated(self) -> dict[str, int]:
        """What was asked, and paid for, more than once."""
        return {text: count for text, count in self.asked.items() if count > 1}

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()


def translated(texts: list[str]) -> Any:
    return {"translatedText": [text.upper() for text in texts]}


def judged(texts: list[str]) -> Any:
    """A score that depends on the length of the text only."""
    return {"choices": [{"message": {"content": str(40 + len(texts[-1]) % 60)}, "finish_reason": "stop"}]}

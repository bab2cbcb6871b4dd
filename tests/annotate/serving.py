"""A real server in a process of its own, and people who talk to it over loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from tests.annotate.conftest import answer, joined


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """`babelquake annotate serve`, started and killed at will, always on the same port."""

    def __init__(self, project: Path) -> None:
        self.project, self.port = project, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "babelquake", "annotate", "serve", str(self.project), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                if httpx.get(f"{self.url}/health", timeout=5).status_code == 204:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """`kill -9`."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it as Ctrl-C does, and by force if it does not go."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


class Person:
    """An annotator who joins a server that runs, goes on whatever happens then, and remembers what was confirmed."""

    def __init__(self, server: Server, token: str, number: int) -> None:
        self.server, self.number = server, number
        self.client = httpx.Client(base_url=server.url, timeout=10)
        assert joined(self.client, f"/join/{token}").status_code == 303
        self.confirmed: dict[int, tuple[int, int]] = {}
        self.sent: dict[int, set[tuple[int, int]]] = {}
        self.done = False

    def rate(self) -> Any:
        """One item: look at it, send an answer, remember it if the server says it has it."""
        page = self.client.get("/task").text
        if "Thank you" in page:
            self.done = True
            return None
        count = len(self.sent)
        scores = ((7 * count + self.number) % 101, (3 * count + self.number) % 101)
        form = answer(page, *scores)
        item = int(form["item"])
        self.sent.setdefault(item, set()).add(scores)
        response = self.client.post("/task", data=form)
        if response.status_code == 303 and item not in self.confirmed:
            self.confirmed[item] = scores
        return response

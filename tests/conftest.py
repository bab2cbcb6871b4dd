"""Fixtures every room's tests share."""

import os
import runpy
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings

from babelquake.models.loading import configure
from babelquake.systems import SYSTEMS, System

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("BABELQUAKE_LINGUISTICS", "lists")
settings.register_profile("same", derandomize=True, deadline=None, max_examples=40)
if not os.environ.get("BABELQUAKE_EXPLORE"):
    settings.load_profile("same")  # the same examples every time; BABELQUAKE_EXPLORE=1 looks for new ones
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup would have children ignore
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell would have its background jobs ignore


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real public data, from BABELQUAKE_DATA or beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BABELQUAKE_DATA", beside))
    if not folder.is_dir():
        pytest.skip("needs the public test data: set BABELQUAKE_DATA to its folder")
    return folder


LOOPBACK = Path(__file__).resolve().parent / "loopback"


@pytest.fixture(autouse=True, scope="session")
def nobody_else_is_asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tests, and the Python processes they start, connect to this machine only; who tried otherwise is told."""
    log = tmp_path_factory.mktemp("loopback") / "refused.txt"
    os.environ["LOOPBACK_LOG"] = str(log)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(LOOPBACK), os.environ.get("PYTHONPATH")]))
    runpy.run_path(str(LOOPBACK / "sitecustomize.py"))
    yield log
    refused = log.read_text("utf-8").splitlines() if log.exists() else []
    assert not refused, f"connections that were refused: {sorted(set(refused))}"


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither fill nor read the user's cache."""
    os.environ["BABELQUAKE_CACHE"] = str(tmp_path_factory.mktemp("cache") / "results.sqlite")


@pytest.fixture(autouse=True)
def settings_of_the_models() -> Iterator[None]:
    """A command that was told --offline or --device tells it to no other test."""
    yield
    configure(device="auto", offline=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for tests that are marked as in need of it."""
    from tests.chromium import started

    with started() as found:
        yield found


class Faraway(System):
    """A remote system at 20 dollars a million characters that remembers what it was sent."""

    remote = True
    price_per_million = 20.0
    sent: ClassVar[list[str]] = []

    def __init__(self, source: str, target: str) -> None:
        self._languages = f"{source}-{target}"

    @property
    def signature(self) -> str:
        """Provider and languages."""
        return f"faraway|{self._languages}"

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The text and the language."""
        self.sent.extend(texts)
        return [f"{text} ({self._languages})" for text in texts]


@pytest.fixture
def faraway(monkeypatch: pytest.MonkeyPatch) -> type[Faraway]:
    """The remote system, registered under the name `faraway`."""
    monkeypatch.setattr(Faraway, "sent", [])
    monkeypatch.setitem(SYSTEMS._things, "faraway", Faraway)
    return Faraway

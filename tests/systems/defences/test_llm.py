"""`llm`: a chat model corrects sources; what is not a correction is not taken."""

from pathlib import Path

import pytest
from tests.chat_server import Behaviour, ChatServer

import babelquake as bq
from babelquake.engine import Engine
from babelquake.engine.cache import Cache
from babelquake.systems.defended import Defended, behind

CORRECTED = {
    "Das ist wihctig fur uns.": "Das ist wichtig für uns.",
    "DIE STADT IST SCHOEN.": "Die Stadt ist schoen.",
    "Er hat 25 Eruo.": "Er hat 52 Euro.",
    "Halo {name}, wie gehts?": "Hallo {nom}, wie gehts?",
    "Ein kurzer Saz.": "Gerne! Hier ist der korrigierte Satz: Ein kurzer Satz, der jetzt viel laenger ist.",
    "Kurz.": "",
}
KEPT = ["Das ist wichtig für uns.", "Die Stadt ist schoen.", *list(CORRECTED)[2:]]


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.slow
def test_corrections_are_taken_and_everything_else_is_not() -> None:
    with ChatServer(Behaviour(translate=CORRECTED.get)) as server:
        chain = bq.defence(f"llm[model=imitation,base_url={server.url}]", lang="de")
        assert chain.apply(list(CORRECTED)) == KEPT
        assert "German" in str(server.requests[0]["messages"])
        strict = bq.defence(f"llm[model=imitation,base_url={server.url},most=0]", lang="de")
        assert strict.apply(list(CORRECTED)[:2]) == [next(iter(CORRECTED)), KEPT[1]]


def test_a_text_is_asked_for_once(tmp_path: Path) -> None:
    with ChatServer(Behaviour(translate=CORRECTED.get)) as server:
        defended = behind(bq.system("command[cmd=cat]", "de-en"), f"llm[model=imitation,base_url={server.url}]+fold")
        assert isinstance(defended, Defended) and defended.remote
        for _ in range(2):
            engine = Engine(cache=Cache(tmp_path / "cache.sqlite"), quiet=True)
            assert engine.translate(defended, list(CORRECTED)[:5]) == KEPT[:5]
        assert len(server.requests) == 5

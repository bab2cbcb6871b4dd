"""Answers cut off at any place, keys in every spelling, and many threads on one event loop."""

import asyncio
import json
import threading
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake import http
from babelquake.http import parsed, salvaged, without_secret

TEXTS = st.lists(st.text(max_size=10), min_size=1, max_size=5)
SHAPES = {
    "google": lambda texts: {"data": {"translations": [{"translatedText": text} for text in texts]}},
    "microsoft": lambda texts: [{"translations": [{"text": text, "to": "en"}]} for text in texts],
    "libretranslate": lambda texts: {"translatedText": texts},
}
READ = {
    "google": lambda body: [entry["translatedText"] for entry in body["data"]["translations"]],
    "microsoft": lambda body: [entry["translations"][0]["text"] for entry in body],
    "libretranslate": lambda body: body["translatedText"],
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
@given(texts=TEXTS, share=st.floats(0, 1), ascii_only=st.booleans())
def test_what_was_received_whole_is_the_beginning_of_the_answer(
    shape: str, texts: list[str], share: float, ascii_only: bool
) -> None:
    whole = json.dumps(SHAPES[shape](texts), ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    part = salvaged(whole[: int(share * len(whole))])
    if part is not None:
        found = READ[shape](part)
        assert found == texts[: len(found)]


def test_all_but_the_last_entry_survive_a_cut() -> None:
    assert salvaged(b'{"translatedText": ["eins", "zw\\"ei", "dr') == {"translatedText": ["eins", 'zw"ei']}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_are_nothing(content: bytes) -> None:
    parsed(content)
    salvaged(content)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 40_000 + b"]" * 40_000,
        b'{"a":[' * 100_000,
        b'["' + b'\\"' * 500_000,
        b'["\\' * 300_000,
        b'"' * 1_000_001,
        b'["a",' + b'"b",' * 250_000,
    ],
)
def test_what_a_server_can_send_takes_no_time_to_look_through(content: bytes) -> None:
    started = time.process_time()
    salvaged(content)
    assert time.process_time() - started < 2, "linear: a megabyte takes a fraction of a second"


def test_nesting_without_end_is_no_json() -> None:
    assert parsed(b"[" * 200_000) is None


@pytest.mark.parametrize("key", ["sesame:fx", "a+b/c=", "päss wörd"])
def test_a_key_is_found_in_every_spelling(key: str) -> None:
    for written in (key, quote(key, safe=""), quote(key, safe="").lower(), quote(key)):
        assert without_secret(f"bad key {written}!", key) == "bad key [key]!"
    assert key not in without_secret(quote_plus(key), key)


def test_threads_that_ask_first_share_one_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections stay with the loop that opened them: a second loop would break every other request."""
    make = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.05)
        return make()

    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    http._started.cache_clear()
    found: set[asyncio.AbstractEventLoop] = set()
    threads = [threading.Thread(target=lambda: found.add(http._loop())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1

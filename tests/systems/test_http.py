"""Every remote system against a server that speaks its protocol and misbehaves in every way."""

import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from tests.systems.conftest import KEY, PROTOCOLS, Server

from babelquake.errors import ResumableError, UserError
from babelquake.systems import SYSTEMS, QuotaError, system
from babelquake.systems.google import Google
from babelquake.systems.http import Remote

TEXTS = ["eins", "zwei", "drei"]
PASSING = ["too few", "malformed", "other json", "not text", "html", "cut", "refused", (500, {}), (503, {}), (429, {})]


def test_texts_come_back_translated_in_order(provider: Server) -> None:
    assert provider.system().translate([*TEXTS, "eins"]) == ["EINS", "ZWEI", "DREI", "EINS"]
    assert sorted(text for call in provider.seen for text in call) == sorted(TEXTS)


def test_blank_texts_cost_nothing(provider: Server) -> None:
    assert provider.system().translate(["", "  ", "a"]) == ["", "  ", "A"]
    assert provider.seen == [["a"]]
    assert provider.system().translate([]) == []


@pytest.mark.parametrize("trouble", PASSING, ids=str)
def test_trouble_that_passes_is_not_noticed(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble, trouble]
    assert provider.system().translate(["eins"]) == ["EINS"]
    assert len(provider.seen) == 3
    assert len(provider.slept) == 2


def test_a_server_that_keeps_still_is_asked_again(provider: Server) -> None:
    provider.plan = ["silence"]
    assert provider.system(timeout=0.2).translate(["eins"]) == ["EINS"]


@pytest.mark.parametrize("trouble", PASSING, ids=str)
def test_trouble_that_stays_can_be_resumed(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble] * 3
    with pytest.raises(ResumableError, match="tried 3 times") as raised:
        provider.system(retries=2).translate(["eins"])
    assert isinstance(raised.value, QuotaError) == (trouble == (429, {}))
    assert len(provider.seen) == 3


def test_a_server_that_is_gone_can_be_resumed(provider: Server) -> None:
    provider.url = "http://127.0.0.1:1"
    with pytest.raises(ResumableError, match="connection"):
        provider.system(retries=1).translate(["eins"])


def test_waiting_grows_and_is_never_the_same_for_all(provider: Server) -> None:
    provider.plan = [(503, {})] * 5
    provider.system(retries=5).translate(["eins"])
    assert all(low <= wait <= 2 * low for wait, low in zip(provider.slept, (0.5, 1, 2, 4, 8), strict=True))


def test_retry_after_is_honoured_in_seconds_and_as_a_date(provider: Server) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    provider.plan = [(429, {}, {"Retry-After": "7"}), (503, {}, {"Retry-After": date}), (429, {}, {"Retry-After": "?"})]
    assert provider.system().translate(["eins"]) == ["EINS"]
    assert provider.slept[0] == 7
    assert 20 < provider.slept[1] <= 30
    assert provider.slept[2] <= 4


def test_a_retry_after_of_hours_stops_the_run(provider: Server) -> None:
    provider.plan = [(429, {}, {"Retry-After": "7200"})]
    with pytest.raises(QuotaError, match="7200 seconds"):
        provider.system().translate(["eins"])
    assert provider.slept == []


def test_a_spent_quota_stops_at_once(provider: Server) -> None:
    provider.plan = [provider.protocol.quota]
    with pytest.raises(QuotaError, match="quota"):
        provider.system().translate(["eins"])
    assert len(provider.seen) == 1


def test_a_wrong_key_names_its_variable_and_never_itself(provider: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.protocol.variable, wrong := "open-barley")
    made = provider.system()
    with pytest.raises(UserError, match=provider.protocol.variable) as raised:
        made.translate(["eins"])
    assert str(provider.protocol.wrong_key[0]) in str(raised.value)
    assert len(provider.seen) == 1
    assert wrong not in "".join(traceback.format_exception(raised.value))
    assert wrong not in made.signature + made.name + repr(made)


@pytest.mark.parametrize("trouble", [*PASSING, (400, {"error": {"message": f"bad {KEY}"}})], ids=str)
def test_no_error_ever_shows_the_key(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble]
    with pytest.raises((ResumableError, UserError)) as raised:
        provider.system(retries=0).translate(["eins"])
    assert KEY not in "".join(traceback.format_exception(raised.value))


def test_a_missing_key_names_its_variable(provider: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(provider.protocol.variable)
    made = provider.system()
    if made.key_optional:  # type: ignore[attr-defined]
        pytest.skip("servers of one's own need no key")
    with pytest.raises(UserError, match=provider.protocol.variable):
        made.translate(["eins"])
    assert provider.seen == []


def test_a_refused_request_is_quoted_and_not_repeated(provider: Server) -> None:
    provider.plan = [(400, {"error": {"message": "language xx is not supported"}})]
    with pytest.raises(UserError, match=r"HTTP 400.*language xx is not supported"):
        provider.system().translate(["eins"])
    assert len(provider.seen) == 1


def test_requests_stay_within_the_limits(provider: Server) -> None:
    made = provider.system()
    limits = made.limits
    texts = [f"{number:05d}" + "x" * 300 for number in range(150)]
    if limits.texts == 1:
        texts = texts[:5]
    assert made.translate(texts) == [text.upper() for text in texts]
    assert all(len(call) <= limits.texts for call in provider.seen)
    assert all(sum(map(len, call)) <= (limits.characters or 10**9) for call in provider.seen)


def test_a_text_longer_than_any_request_is_named(provider: Server) -> None:
    made = provider.system()
    if made.limits.characters is None:
        pytest.skip("no limit of characters")
    with pytest.raises(UserError, match=r"takes .* characters at once"):
        made.translate(["lang " * 20_000])


def test_a_rate_keeps_calls_apart(provider: Server) -> None:
    made = provider.system(rate=0.01)
    for text in TEXTS:
        made.translate([text])
    assert len(provider.slept) == 2
    assert 90 < provider.slept[0] <= 100
    assert 190 < provider.slept[1] <= 200


def test_concurrency_is_the_users(provider: Server) -> None:
    assert provider.system(concurrent=9).limits.concurrent == 9


def test_signatures_tell_languages_and_servers_apart(provider: Server) -> None:
    made = provider.system()
    assert "source:de|target:en" in made.signature
    assert provider.url in made.signature
    assert made.signature != provider.system(target="fr").signature
    assert KEY not in made.signature


@pytest.mark.parametrize("url", ["localhost:5000", "ftp://host/x", "https://user:secret@host/", "https://host/?key=1"])
def test_addresses_must_be_plain(url: str) -> None:
    with pytest.raises(UserError):
        system("google", "de-en", url=url)


def test_connections_can_be_closed_and_opened_again(provider: Server) -> None:
    made = provider.system()
    made.close()
    assert made.translate(["a"]) == ["A"]
    made.close()
    assert made.translate(["b"]) == ["B"]
    made.close()


def test_every_remote_system_has_a_server_here() -> None:
    remote = {name for name in SYSTEMS.names() if issubclass(SYSTEMS.get(name), Remote)}
    assert remote == set(PROTOCOLS)


def test_googles_minute_passes_and_its_day_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    google = Google("de", "en")
    minute = {"error": {"errors": [{"reason": "userRateLimitExceeded"}], "message": "User Rate Limit Exceeded"}}
    assert google.verdict(403, minute).name == "AGAIN"
    assert google.verdict(403, {"error": {"message": "Daily Limit Exceeded"}}).name == "QUOTA"
    assert google.verdict(403, {"error": {"message": "The caller does not have permission"}}).name == "KEY"

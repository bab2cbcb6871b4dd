"""Every remote system against a server that speaks its protocol and misbehaves in every way."""

import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import pytest
from tests.systems.conftest import KEY, PROTOCOLS, Server

from babelquake.errors import QuotaError, ResumableError, UnansweredError, UserError
from babelquake.models.loading import configure
from babelquake.scorers import scorer
from babelquake.systems import SYSTEMS, system
from babelquake.systems.openai import OpenAI
from babelquake.systems.remote import DeepL, Google, Microsoft, Remote

TEXTS = ["eins", "zwei", "drei"]
UNPAID = ["html", "refused", (500, {}), (503, {}), (429, {})]
"""Trouble that costs nothing, tried again as often as the user says."""
PAID = ["too few", "other json", "not text", "cut", "huge", "bomb", "foreign packing", "surrogate", "empty"]
"""Answers that may have been charged, asked for again only a few times."""


def test_texts_come_back_translated_in_order(provider: Server) -> None:
    assert provider.system().translate([*TEXTS, "eins"]) == ["EINS", "ZWEI", "DREI", "EINS"]
    assert sorted(text for call in provider.seen for text in call) == sorted(TEXTS)


def test_blank_texts_cost_nothing(provider: Server) -> None:
    assert provider.system().translate(["", "  ", "a"]) == ["", "  ", "A"]
    assert provider.seen == [["a"]]
    assert provider.system().translate([]) == []


@pytest.mark.parametrize("trouble", [*UNPAID, *PAID], ids=str)
def test_trouble_that_passes_is_not_noticed(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble, trouble]
    assert provider.system().translate(["eins"]) == ["EINS"]
    assert len(provider.seen) == 3
    assert len(provider.slept) == 2


def test_a_server_that_keeps_still_is_asked_again(provider: Server) -> None:
    provider.plan = ["silence"]
    assert provider.system(timeout=0.2).translate(["eins"]) == ["EINS"]


@pytest.mark.parametrize("trouble", UNPAID, ids=str)
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


@pytest.mark.parametrize("header", ["nan", "-5", "0", "Wed, 21 Oct 2015 07:28:00 GMT", "99999999999999999999 x"])
def test_a_retry_after_that_is_no_time_to_come_means_the_usual_back_off(provider: Server, header: str) -> None:
    provider.plan = [(429, {}, {"Retry-After": header})] * 2
    assert provider.system().translate(["eins"]) == ["EINS"]
    assert all(low <= wait <= 2 * low for wait, low in zip(provider.slept, (0.5, 1), strict=True))


def test_a_retry_after_without_end_stops_the_run(provider: Server) -> None:
    provider.plan = [(429, {}, {"Retry-After": "inf"})]
    with pytest.raises(QuotaError):
        provider.system().translate(["eins"])


@pytest.mark.parametrize("trouble", PAID, ids=str)
def test_a_text_that_stays_without_an_answer_is_asked_three_times_and_named(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble] * 20
    with pytest.raises(UnansweredError, match="no usable translation of 1 texts, of “eins”") as raised:
        provider.system().translate(["eins"])
    assert len(provider.seen) == 3
    assert list(raised.value.reasons) == ["eins"]
    assert raised.value.answers == {}


def test_an_answer_with_too_few_results_is_asked_for_again_in_halves_and_then_alone(provider: Server) -> None:
    if provider.system().limits.texts < 4:
        pytest.skip("asks for one text at a time")
    texts = ["eins", "zwei", "drei", "vier"]
    provider.plan = ["too few", "too few"]
    assert provider.system().translate(texts) == [text.upper() for text in texts]
    assert provider.seen == [texts, texts[:2], ["eins"], ["zwei"], texts[2:]]


def test_only_the_bad_text_of_a_batch_is_paid_twice(provider: Server) -> None:
    if provider.system().limits.texts < 3:
        pytest.skip("asks for one text at a time")
    provider.plan = ["surrogate"]
    assert provider.system().translate(TEXTS) == ["EINS", "ZWEI", "DREI"]
    assert provider.seen == [TEXTS, ["drei"]]


def test_what_came_whole_before_a_cut_is_kept(provider: Server) -> None:
    if provider.system().limits.texts < 3:
        pytest.skip("asks for one text at a time")
    provider.plan = ["cut in the middle"]
    assert provider.system().translate(TEXTS) == ["EINS", "ZWEI", "DREI"]
    assert provider.seen == [TEXTS, ["drei"]]


def test_answers_may_be_packed(provider: Server) -> None:
    provider.plan = ["gzip"]
    assert provider.system().translate(["eins"]) == ["EINS"]
    assert len(provider.seen) == 1


@pytest.mark.parametrize("trouble", ["drip", "drip headers"])
def test_a_server_that_drips_does_not_hold_a_run(provider: Server, trouble: str) -> None:
    provider.plan = [trouble]
    assert provider.system(timeout=0.3).translate(["eins"]) == ["EINS"]


@pytest.mark.parametrize("status", [413, 400])
def test_a_request_too_large_is_split_and_the_size_remembered(provider: Server, status: int) -> None:
    made = provider.system()
    if made.limits.texts < 4:
        pytest.skip("asks for one text at a time")
    provider.plan = [(status, {"error": {"message": "Request exceeds the size limit"}})]
    texts = ["eins", "zwei", "drei", "vier"]
    assert made.translate(texts) == [text.upper() for text in texts]
    assert provider.seen == [texts, texts[:2], texts[2:]]
    assert made.limits.texts == 2
    assert provider.slept == []


def test_a_text_too_large_on_its_own_is_named(provider: Server) -> None:
    provider.plan = [(413, {})]
    with pytest.raises(UnansweredError, match="does not accept a request of this size"):
        provider.system().translate(["eins"])


@pytest.mark.slow
def test_a_service_that_answers_nothing_well_is_given_up(provider: Server) -> None:
    provider.plan = ["empty"] * 1000
    with pytest.raises(ResumableError, match="10 texts in a row"):
        provider.system().translate([f"Satz {number}" for number in range(200)])
    assert sum(map(len, provider.seen)) <= 2 * provider.system().limits.texts + 10 * 3


def test_what_was_translated_before_a_spent_quota_comes_with_the_error(provider: Server) -> None:
    made = provider.system()
    texts = [f"{number:05d}" + "x" * 300 for number in range(2 * min(made.limits.texts, 120))]
    provider.plan = ["good", provider.protocol.quota]
    with pytest.raises(QuotaError) as raised:
        made.translate(texts)
    if len(provider.seen) == 1:
        pytest.skip("takes all at once")
    assert raised.value.answers == {text: text.upper() for text in provider.seen[0]}


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


QUOTING = (400, {"error": {"message": f"bad {KEY} or {quote(KEY)}"}})


@pytest.mark.parametrize("trouble", [*UNPAID, *PAID, QUOTING], ids=str)
def test_no_error_ever_shows_the_key(provider: Server, trouble: Any) -> None:
    provider.plan = [trouble]
    provider.plan *= 4
    with pytest.raises((ResumableError, UserError)) as raised:
        provider.system(retries=0).translate(["eins"])
    assert quote(KEY) not in "".join(traceback.format_exception(raised.value))
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
    with pytest.raises(UnansweredError, match=r"takes .* characters at once") as raised:
        made.translate(["lang " * 20_000, "kurz"])
    assert raised.value.answers == {"kurz": "KURZ"}


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


@pytest.mark.parametrize("name", ["deepl", "google", "microsoft", "openai", "libretranslate"])
def test_offline_asks_nobody_but_this_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = SYSTEMS.get(name)
    monkeypatch.setenv(kind.variable, KEY)  # type: ignore[attr-defined]
    options = {"model": "m"} if name == "openai" else {"url": "https://example.org"} if name == "libretranslate" else {}
    configure(offline=True)
    with pytest.raises(UserError, match=r"offline.* forbids .* is at [a-z.-]+"):
        system(name, language_pair="de-en", retries=0, **options).translate(["eins"])


def test_openai_itself_needs_a_key_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="needs a key: set the environment variable OPENAI_API_KEY"):
        system("openai[model=m]", language_pair="de-en").translate(["eins"])
    with pytest.raises(UserError, match="needs a key: set the environment variable OPENAI_API_KEY"):
        scorer("llm-judge[model=m]").segments(["one"], sources=["eins"])


def test_a_server_of_ones_own_is_no_network(provider: Server) -> None:
    configure(offline=True)
    assert provider.system().translate(["eins"]) == ["EINS"]


def test_a_free_deepl_key_goes_to_the_free_host() -> None:
    deepl = DeepL("de", "en")
    assert deepl.request(["a"], "secret:fx").url == "https://api-free.deepl.com/v2/translate"
    assert deepl.request(["a"], "secret").url == "https://api.deepl.com/v2/translate"


@pytest.mark.parametrize(
    ("pair", "source", "target"), [("de-en", "DE", "EN-US"), ("pt_BR-de", "PT", "DE"), ("en-pt_BR", "EN", "PT-BR")]
)
def test_deepl_wants_variants_of_targets_only(pair: str, source: str, target: str) -> None:
    made = system("deepl", pair)
    assert isinstance(made, DeepL)
    request = made.request(["a"], "k").json
    assert (request["source_lang"], request["target_lang"]) == (source, target)


def test_microsoft_writes_chinese_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TRANSLATOR_REGION", "westeurope")
    request = Microsoft("en", "zh").request(["a"], "k")
    assert request.params["to"] == "zh-Hans"
    assert request.headers["Ocp-Apim-Subscription-Region"] == "westeurope"


def test_the_prompt_holds_languages_and_text_untouched() -> None:
    request = OpenAI("m", "de", "en").request(["Nur {source} und {target}"], None)
    (message,) = request.json["messages"]
    assert "from German into English" in message["content"]
    assert message["content"].endswith("\n\nNur {source} und {target}")
    assert request.json["temperature"] == 0
    assert "Authorization" not in request.headers


def test_the_hash_of_the_prompt_and_the_temperature_are_in_the_signature() -> None:
    plain, other = OpenAI("m", "de", "en"), OpenAI("m", "de", "en", prompt="{source} auf {target_language}, bitte")
    assert f"prompt:{other.prompt.hash}" in other.signature
    assert len({plain.signature, other.signature, OpenAI("m", "de", "en", temperature=None).signature}) == 3
    assert "temperature" not in OpenAI("m", "de", "en", temperature=None).request(["a"], None).json


def test_a_refusal_is_an_answer() -> None:
    body = {"choices": [{"message": {"content": None, "refusal": "I cannot help with that."}}]}
    assert OpenAI("m", "de", "en").answers(body) == ["I cannot help with that."]


def test_prices_are_known_where_the_list_price_is_one_number() -> None:
    assert {name: system(name, "de-en").price_per_million for name in ("google", "deepl", "microsoft")} == {
        "google": 20,
        "deepl": 25,
        "microsoft": 10,
    }

"""What is peculiar to one provider: hosts, language codes, prompts."""

import pytest

from babelquake.systems import system
from babelquake.systems.deepl import DeepL
from babelquake.systems.microsoft import Microsoft
from babelquake.systems.openai import OpenAI


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

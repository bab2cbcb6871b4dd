"""How chat models are asked, and what becomes of their answers."""

import pickle
from pathlib import Path

import pytest
from tests.chat_server import Behaviour, ChatServer

from babelquake.engine import Cache, Engine
from babelquake.errors import UserError
from babelquake.systems import system
from babelquake.systems.prompts import (
    AnswerForm,
    Inquiry,
    Prompt,
    cost_in_tokens,
    marked_as_cut,
    prompt_of,
    reading_of,
)

EXAMPLES = "source\treference\nHaus\thouse\nBaum\ttree\nHund\tdog\n"


def told(prompt: Prompt, text: str, **more: str) -> list[tuple[str, str]]:
    """The conversation as (role, content)."""
    return [(one["role"], one["content"]) for one in prompt.messages(Inquiry(text, **more), "de", "en")]


def made(**options: object) -> Prompt:
    return prompt_of("openai[…]", options)  # type: ignore[arg-type]


def test_a_template_file_is_the_instruction(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Von {source_language} nach {target_language}: {source}\n", "utf-8")
    assert told(made(template=str(file)), "Guten {source}") == [("user", "Von German nach English: Guten {source}")]


def test_a_yaml_template_has_examples_and_a_system_message(tmp_path: Path) -> None:
    (tmp_path / "examples.tsv").write_text(EXAMPLES, "utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(
        "instruction: '{source} in {target_language}?'\nsystem: You know {source_language}.\n"
        "examples: examples.tsv\nshots: 2\nanswer: json:t\n",
        "utf-8",
    )
    assert told(made(template=str(file)), "Katze") == [
        ("system", "You know German."),
        ("user", "Haus in English?"),
        ("assistant", '{"t": "house"}'),
        ("user", "Baum in English?"),
        ("assistant", '{"t": "tree"}'),
        ("user", "Katze in English?"),
    ]


def test_examples_stand_where_the_instruction_has_a_place_for_them(tmp_path: Path) -> None:
    (tmp_path / "e.tsv").write_text(EXAMPLES, "utf-8")
    prompt = made(prompt="{examples}Now: {source}", examples=str(tmp_path / "e.tsv"), shots=1)
    assert told(prompt, "Katze") == [("user", "German: Haus\nEnglish: house\n\nNow: Katze")]


def test_the_written_prompt_says_which_examples_are_shown_in_which_order(tmp_path: Path) -> None:
    (tmp_path / "e.tsv").write_text(EXAMPLES, "utf-8")
    prompt = made(prompt="{source}", examples=str(tmp_path / "e.tsv"))
    assert prompt.written == "{turns:0,1,2}{source}"
    asked = told(prompt, "Katze", instruction="{turns:2,0}{source}!")
    assert [content for _, content in asked] == ["Hund!", "dog", "Haus!", "house", "Katze!"]


def test_what_comes_before_a_text_is_told_apart_from_it() -> None:
    ((_, content),) = told(made(), "Er kam.", context="Max ging.")
    assert content.index("not to be translated again") < content.index("Max ging.") < content.index("Translate the")
    assert content.endswith("\n\nEr kam.")
    assert told(made(prompt="({context}) {source}"), "Er kam.", context="Max ging.") == [
        ("user", "(Max ging.) Er kam.")
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prompt": "Translate!"}, ["{source}"]),
        ({"prompt": "Translate {text} into {target}"}, ["{text}", "{source}"]),
        ({"prompt": "{source} in {target_lang}"}, ["{target_lang}", "'target_language'"]),
        ({"prompt": "{source}", "template": "x.txt"}, ["prompt=", "template="]),
        ({"template": "nowhere.txt"}, ["nowhere.txt"]),
        ({"shots": 2}, ["shots=2", "examples="]),
        ({"answer": "xml"}, ["answer=xml", "json:FIELD"]),
        ({"answer": "json"}, ["answer=json", "json:FIELD"]),
    ],
)
def test_mistakes_in_prompts_are_told(options: dict[str, object], said: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        made(**options)
    assert all(word in str(caught.value) for word in said)


def test_words_in_braces_that_are_not_places_stand_as_they_are() -> None:
    assert told(made(prompt='{source} Answer: {"translation": "…"} or {nothing}'), "Ja.") == [
        ("user", 'Ja. Answer: {"translation": "…"} or {nothing}')
    ]


def test_an_unknown_key_of_a_template_gets_a_hint(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("instruction: '{source}'\nexample: x.tsv\n", "utf-8")
    with pytest.raises(UserError, match="'examples'"):
        made(template=str(file))


@pytest.mark.parametrize(
    ("form", "answer", "translation", "fits"),
    [
        ("text", "Hello", "Hello", True),
        ("line", "Hello\n\nNote: informal.", "Hello", True),
        ("json:t", '{"t": "Hello"}', "Hello", True),
        ("json:t", 'Sure! {"t": "Hello"}', 'Sure! {"t": "Hello"}', False),
        ("json:t", '{"u": "Hello"}', '{"u": "Hello"}', False),
        ("json:t", '{"t": 3}', '{"t": 3}', False),
        ("tag:t", "Sure: <t>Hello</t>", "Hello", True),
        ("tag:t", "Hello", "Hello", False),
        ("tag:t", "<t>Hello</t> or <t>Hi</t>", "<t>Hello</t> or <t>Hi</t>", False),
    ],
)
def test_an_answer_that_does_not_fit_stands_as_it_is_and_is_counted(
    form: str, answer: str, translation: str, fits: bool
) -> None:
    found = AnswerForm(form).read(answer)
    assert (found.translation, not found.misfit) == (translation, fits)


def test_an_answer_that_ran_out_of_tokens_is_counted() -> None:
    found = reading_of(AnswerForm("text"), marked_as_cut("Hello and"))
    assert found.translation == "Hello and"
    assert "cut off" in found.misfit


def test_an_inquiry_is_another_key_for_every_prompt_context_and_repeat() -> None:
    keys = [Inquiry("a"), Inquiry("a", "b {source}"), Inquiry("a", context="c"), Inquiry("a", repeat=1)]
    assert len(set(keys)) == 4
    assert keys[0] == "a"
    assert [pickle.loads(pickle.dumps(key)).repeat for key in keys] == [0, 0, 0, 1]


def test_a_repeat_is_asked_anew_with_another_seed_and_kept(tmp_path: Path) -> None:
    with ChatServer(Behaviour(changes=1.0)) as server:
        chat = system("openai", "de-en", model="m", base_url=server.url, temperature=1, seed=5, retries=0)
        engine = Engine(Cache(tmp_path / "cache"), quiet=True)
        asked = [Inquiry("Haus"), Inquiry("Haus", repeat=1), Inquiry("Haus", repeat=2)]
        first = engine.translate(chat, asked)
        assert len(set(first)) == 3
        assert len({body["seed"] for body in server.requests}) == 3
        assert engine.translate(chat, asked) == first
        assert len(server.requests) == 3


def test_a_system_that_takes_no_inquiries_is_told_the_text_alone() -> None:
    upper = system(lambda texts: [text.upper() for text in texts])
    assert Engine(quiet=True).translate(upper, [Inquiry("a", "x {source}", "before", 2)]) == ["A"]


def test_tokens_and_money_follow_from_the_whole_conversation() -> None:
    prompt = Prompt("{source}" + "x" * 392, system="y" * 40)
    cost = cost_in_tokens(prompt, ["abcdefgh"], "de", "en", price_in=10.0, price_out=100.0)
    sent, answered = 100 + 4 + 10 + 4, 2
    assert cost.tokens == sent + answered
    assert cost.dollars == pytest.approx((sent * 10 + answered * 100) / 1e6)
    assert cost_in_tokens(prompt, ["a"], "de", "en", None, None).dollars is None

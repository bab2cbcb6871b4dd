"""Names with options in brackets read and write the same way everywhere; signatures tell different things apart."""

from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.spec import Range, Spec, bind, expand, make, parameters, parse, run_signature, signature, split_list
from babelquake.text import digest
from babelquake.version import VERSION

NAMES = st.from_regex(r"[a-z][a-z0-9+\-]{0,8}", fullmatch=True)
KEYS = st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True)
AWKWARD = st.one_of(st.text(max_size=12), st.text("[],|=\"'\\ \t\nab", max_size=12))


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("chrf", "chrf", {}),
        (" chrf ", "chrf", {}),
        ("chrf[]", "chrf", {}),
        ("chrf[order=4]", "chrf", {"order": "4"}),
        ("chrf[ order = 4 , beta = 2 ]", "chrf", {"order": "4", "beta": "2"}),
        ("chrf[word-order=2]", "chrf", {"word_order": "2"}),
        ('command[cmd="tr a,b c"]', "command", {"cmd": "tr a,b c"}),
        ("command[cmd='tr a|b c']", "command", {"cmd": "tr a|b c"}),
        ("command[cmd='tr' 'a b']", "command", {"cmd": "'tr' 'a b'"}),
        ("command[cmd=sed s/[ab]/c/]", "command", {"cmd": "sed s/[ab]/c/"}),
        ('command[cmd="say \\"hi\\" \\\\o"]', "command", {"cmd": 'say "hi" \\o'}),
        ("openai[prompt=don't add words,model=m]", "openai", {"prompt": "don't add words", "model": "m"}),
        ("hf[model=Helsinki-NLP/opus-mt-de-en]", "hf", {"model": "Helsinki-NLP/opus-mt-de-en"}),
        ("google[url=http://localhost:8/v2?key=a]", "google", {"url": "http://localhost:8/v2?key=a"}),
        ("x[empty=]", "x", {"empty": ""}),
    ],
)
def test_the_grammar(text: str, name: str, options: dict[str, str]) -> None:
    found = parse(text)
    assert (found.name, dict(found.options)) == (name, options)


@given(name=NAMES, options=st.dictionaries(KEYS, AWKWARD, max_size=4))
def test_what_is_written_reads_back(name: str, options: dict[str, str]) -> None:
    spec = Spec(name, tuple(sorted(options.items())))
    assert parse(str(spec)) == spec


@given(
    specs=st.lists(
        st.builds(
            Spec, NAMES, st.dictionaries(KEYS, AWKWARD, max_size=2).map(lambda options: tuple(sorted(options.items())))
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_list_of_specs_splits_where_it_was_joined(specs: list[Spec]) -> None:
    assert [parse(item) for item in split_list(",".join(map(str, specs)))] == specs


@given(text=st.text("ab[],|=\"'\\ ", max_size=20))
def test_any_text_is_a_spec_or_a_user_error(text: str) -> None:
    try:
        assert expand(text)
    except UserError as error:
        assert str(error)


def test_order_of_options_does_not_matter() -> None:
    assert str(parse("chrf[order=4,beta=2]")) == str(parse("chrf[beta=2,order=4]")) == "chrf[beta=2,order=4]"


def test_alternatives_are_spelt_out() -> None:
    assert [str(spec) for spec in expand("m[level=0.1|0.2,mark=x|y]")] == [
        "m[level=0.1,mark=x]",
        "m[level=0.1,mark=y]",
        "m[level=0.2,mark=x]",
        "m[level=0.2,mark=y]",
    ]
    with pytest.raises(UserError, match="several values"):
        parse("m[level=0.1|0.2]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "[order=4]",
        "chrf]",
        "chrf[order=4",
        "chrf[order=4]]",
        "chrf[4]",
        "chrf[=4]",
        'x[a="b]',
        "x[a=1,a=2]",
        "x[a=1][b=2]",
    ],
)
def test_broken_specs_are_refused_with_their_text(text: str) -> None:
    with pytest.raises(UserError) as caught:
        expand(text)
    assert text.strip() in str(caught.value)


class Judge:
    def __init__(
        self,
        model: str,
        order: Annotated[int, Range(1, 10)] = 6,
        beta: Annotated[float, Range(0, 100)] | None = None,
        weight: Annotated[float | None, Range(0, 1)] = None,
        lowercase: bool = False,
        mode: Literal["fast", "slow"] = "fast",
    ) -> None: ...


def bound(text: str) -> dict[str, object]:
    return bind(parse(text), parameters(Judge), "scorer")


def test_values_get_their_types() -> None:
    assert bound("j[model=a,order=4,beta=2.5,lowercase=true,mode=slow]") == {
        "model": "a",
        "order": 4,
        "beta": 2.5,
        "lowercase": True,
        "mode": "slow",
    }
    assert bound("j[model=a,beta=none,lowercase=no]") == {"model": "a", "beta": None, "lowercase": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("j[model=a,ordr=4]", "scorer 'j' has no option 'ordr'. Did you mean 'order'?"),
        ("j[model=a,order=11]", "j[order=11]: 11 is outside 1 to 10."),
        ("j[model=a,order=two]", "j[order=two]: expected a whole number from 1 to 10."),
        ("j[model=a,order=2.5]", "j[order=2.5]: expected a whole number from 1 to 10."),
        ("j[model=a,beta=-1]", "j[beta=-1]: -1 is outside 0 to 100."),
        ("j[model=a,weight=2]", "j[weight=2]: 2 is outside 0 to 1."),
        ("j[model=a,beta=nan]", "j[beta=nan]: nan is outside 0 to 100."),
        ("j[model=a,lowercase=maybe]", "j[lowercase=maybe]: expected true or false."),
        ("j[model=a,mode=quick]", "j[mode=quick]: expected fast or slow."),
        ("j", "scorer 'j' needs model: write j[model=…]."),
    ],
)
def test_a_wrong_option_is_named_with_what_is_right(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        bound(text)
    assert str(caught.value) == message


def test_keywords_join_the_options_and_win() -> None:
    spec = parse("bleu[lowercase=false,order=4]").with_options(lowercase=True, smooth=None)
    assert str(spec) == "bleu[lowercase=true,order=4]"


def test_a_spec_makes_what_it_names() -> None:
    def pair(first: str, second: int = 2, third: bool = False) -> tuple[str, int, bool]:
        return first, second, third

    assert make("pair[third=true,second=5]", {"pair": pair}, "thing", "given") == ("given", 5, True)
    with pytest.raises(UserError, match=r"no thing is called 'pear'\. Did you mean 'pair'\?"):
        make("pear", {"pair": pair}, "thing", "given")
    with pytest.raises(UserError, match="thing 'pair' has no option 'first'"):
        make("pair[first=x]", {"pair": pair}, "thing", "given")


TEXTS = st.lists(st.one_of(st.none(), st.text(st.characters(), max_size=5)), max_size=5)


def test_parts_and_facts_stand_in_the_order_given() -> None:
    assert signature("chrf", "nc:6", seed=5, data=None, case="mixed") == "chrf|nc:6|seed:5|case:mixed"
    assert run_signature(seed=0) == f"seed:0|babelquake:{VERSION}"


def test_a_digest_does_not_change_between_versions() -> None:
    assert digest(["Hallo", "Welt"]) == "3b7a0130d624"


@given(one=TEXTS, other=TEXTS)
def test_a_digest_tells_lists_apart(one: list[str | None], other: list[str | None]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


def test_a_digest_sees_where_texts_end_order_and_absence() -> None:
    assert (
        len(
            {
                digest(["ab", "c"]),
                digest(["a", "bc"]),
                digest(["c", "ab"]),
                digest(["ab", "c", ""]),
                digest(["ab", "c", None]),
            }
        )
        == 5
    )

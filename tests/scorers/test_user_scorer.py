"""Functions and classes of other people as scorers, and names for all scorers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import Questions, scorer
from babelquake.studies.resolve import scorers_of

MODULE = """
def lengths(translations, references):
    return [len(mt) - len(ref) for mt, ref in zip(translations, references)]

def one(mt: str, src: str) -> float:
    return len(mt) / len(src)

def alone(translations):
    return [float(len(text)) for text in translations]

def wrong(translations, references):
    return 0.5

def short(translations, references):
    return [1.0]

def broken(translations, references):
    raise RuntimeError("no weights")

def endless(translations, references):
    return [float("inf") for _ in translations]

def strange(texts, gold):
    return [0.0]

class MyMetric:
    higher_is_better = False
    def __init__(self, weight: float = 1.0):
        self.weight = weight
    def segments(self, translations, references, sources):
        return [self.weight * len(text) for text in translations]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"my_metrics_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_function_in_the_working_folder_is_a_scorer(module: str) -> None:
    made = scorer(f"{module}:lengths")
    assert made.segments(["abc", "d"], ["a", "d"]).tolist() == [2, 0]
    assert made.corpus(["abc", "d"], ["a", "d"]) == 1
    assert made.needs == {"reference"}
    assert made.name == f"{module}:lengths"
    assert made.signature.startswith(f"{module}:lengths|content:")


def test_of_several_references_the_best_counts(module: str) -> None:
    assert scorer(f"{module}:lengths").segments(["abc"], [["abcd", "a"]]).tolist() == [2]
    assert scorer(f"{module}:lengths[higher=false]").segments(["abc"], [["abcd", "a"]]).tolist() == [-1]


def test_without_references_it_is_quality_estimation(module: str) -> None:
    made = scorer(f"{module}:one")
    assert made.needs == {"source"}
    assert made.segments(["ab"], sources=["abcd"]).tolist() == [0.5]
    assert scorer(f"{module}:alone").segments(["ab"]).tolist() == [2]


def test_a_class_takes_options_and_says_which_way_is_better(module: str) -> None:
    made = scorer(f"{module}:MyMetric[weight=2,name=mine]")
    questions = Questions(["a", "bb", "a"], [["a"], ["b"], ["a"]], ["x", "y", "x"])
    assert Engine(quiet=True).judge(made, questions)[:, 0].tolist() == [2, 4, 2]
    assert made.name == "mine"
    assert not made.higher_is_better
    assert "mine" not in made.signature
    assert made.signature != scorer(f"{module}:MyMetric[weight=3]").signature


def test_a_function_may_be_given_itself() -> None:
    def same(translations: Sequence[str], references: Sequence[str]) -> list[bool]:
        return [mt == ref for mt, ref in zip(translations, references, strict=True)]

    [made] = scorers_of(same)
    assert made.segments(["a", "b"], ["a", "c"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("wrong", "float instead of a list of 2 numbers"),
        ("short", "1 scores for 2 segments"),
        ("broken", r"failed: RuntimeError: no weights \(my_metrics_\d+\.py line 18\)"),
        ("endless", "an infinite score"),
    ],
)
def test_a_wrong_answer_is_told(module: str, function: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        scorer(f"{module}:{function}").segments(["a", "b"], ["a", "b"])


def test_parameters_of_other_names_are_refused(module: str) -> None:
    with pytest.raises(UserError, match=r"strange\(texts, gold\) is not a scorer: .* must be called translations"):
        scorer(f"{module}:strange")


def test_every_scorer_takes_a_name() -> None:
    assert scorer("chrf[char_order=4,name=short chrF]").name == "short chrF"
    assert scorer("bleu", name="B").signature == scorer("bleu").signature


def test_two_scorers_of_one_name_are_refused() -> None:
    assert [made.name for made in scorers_of(["chrf", "chrf"])] == ["chrf"]
    with pytest.raises(UserError, match=r"two scorers are called 'x': bleu.* and chrf.* Give one of them another name"):
        scorers_of(["bleu[name=x]", "chrf[name=x]"])


def test_two_functions_without_a_name_are_not_taken_for_one() -> None:
    made = [scorer(lambda translations, weight=weight: [weight for _ in translations]) for weight in (1, 2)]
    assert made[0].signature != made[1].signature
    assert [Engine(quiet=True).judge(one, Questions(["a"]))[0, 0] for one in made] == [1, 2]
    both = scorers_of([lambda translations: [1 for _ in translations], lambda translations: [2 for _ in translations]])
    assert len({one.name for one in both}) == 2

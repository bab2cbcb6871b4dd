"""Questions are told apart by every text in them."""

from babelquake.scorers import Question


def test_questions_with_the_same_letters_have_different_keys() -> None:
    asked = [
        Question("ab", ("c",)),
        Question("a", ("bc",)),
        Question("a", ("b", "c")),
        Question("abc", ()),
        Question("abc"),
        Question("abc", None, ""),
        Question("ab", None, "c"),
        Question("ab", (), "c"),
        Question("a\0b", ("c",)),
        Question("a", ("b",), "c"),
        Question("a", ("1 b",), "c"),
    ]
    assert len({question.key for question in asked}) == len(asked)

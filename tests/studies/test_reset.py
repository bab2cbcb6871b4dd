"""A final mark that came or went with the source's is undone; nothing else is (Jwalapuram 2023 §4.1, Table 6)."""

from pathlib import Path

import pytest

from babelquake.errors import UserError
from babelquake.studies.final_marks import RESETS, reset_as_published, reset_ending
from babelquake.studies.mt.study import mt
from babelquake.text import ending


@pytest.mark.parametrize(
    ("clean_source", "perturbed_source", "clean", "perturbed", "expected"),
    [
        # Table 6, examples 1–3: inserted marks that reappear in the translation
        (
            "なにかアドバイス下さい",
            "なにかアドバイス下さい。",
            "give me some advice",
            "Please give me some advice.",
            "Please give me some advice",
        ),
        (
            "Якщо ще колись не захочете мені писати, то я чекатиму",
            "Якщо ще колись не захочете мені писати, то я чекатиму .",
            "If you ever want to write to me again, I will be waiting",
            "If ever you do not want to write to me, I will be waiting.",
            "If ever you do not want to write to me, I will be waiting",
        ),
        (
            "Elon Musk lässt Tesla-Aktien steigen",
            "Elon Musk lässt Tesla-Aktien steigen !",
            "Elon Musk lets Tesla shares rise",
            "Elon Musk makes Tesla shares rise!",
            "Elon Musk makes Tesla shares rise",
        ),
        # example 7: the full stop is deleted from the source, the translation keeps it
        (
            "Проблема з температурою водонагрівача та ванною.",
            "Проблема з температурою водонагрівача та ванною",
            "The problem is with the temperature of the water heater and bath.",
            "Problem with water heater temperature and bath.",
            "Problem with water heater temperature and bath.",
        ),
        # example 8: deleted, and lost in the translation
        (
            "Ja wir haben hier alle Schusswaffen .",
            "Ja wir haben hier alle Schusswaffen",
            "Yes we all have firearms here.",
            "Yes we have all the firearms here",
            "Yes we have all the firearms here.",
        ),
        # example 12
        (
            "LINEは何日に何回送るのが良いですか？",
            "LINEは何日に何回送るのが良いですか",
            "What is the best time to send LINE messages per day?",
            "How many times a day should I send LINE",
            "How many times a day should I send LINE?",
        ),
        # the mark changes with the source's
        ("Er kommt.", "Er kommt?", "He is coming.", "Is he coming?", "Is he coming."),
        # a mark inside closing quotes goes and comes inside them
        ("Er sagte „Geh“", "Er sagte „Geh“.", 'He said "go"', 'He said "go."', 'He said "go"'),
        ("Er sagte „Geh.“", "Er sagte „Geh“", 'He said "go."', 'He said "go"', 'He said "go."'),
        # French puts a space before the mark
        ("Kommst du?", "Kommst du", "Tu viens ?", "Tu viens", "Tu viens ?"),
        # the sources end alike: whatever the translation did, it did by itself
        ("Guten Tag.", "Guten Tga.", "Good day.", "Good day!", "Good day!"),
        ("Guten Tag", "Guten Tagx", "Good day", "Good day.", "Good day."),
        # nothing is made of nothing
        ("Guten Tag.", "Guten Tag", "Good day.", "", ""),
        ("Guten Tag.", "Guten Tag", "Good day.", "Good day\n", "Good day.\n"),
    ],
)
def test_only_marks_that_followed_the_source_are_reset(
    clean_source: str, perturbed_source: str, clean: str, perturbed: str, expected: str
) -> None:
    found = reset_ending(perturbed, clean, perturbed_source, clean_source)
    assert found == expected
    assert reset_ending(found, clean, perturbed_source, clean_source) == found
    if found != perturbed:
        assert ending(found).mark == ending(clean).mark


@pytest.mark.parametrize(
    ("clean_source", "perturbed_source", "clean", "perturbed", "expected"),
    [
        # inserted: taken off where only the perturbed translation has it
        ("Hallo Welt", "Hallo Welt!", "Hello world", "Hello, world!", "Hello, world"),
        ("Hallo Welt", "Hallo Welt!", "Hello world!", "Hello, world!", "Hello, world!"),
        ("Hallo Welt", "Hallo Welt!", "Hello world", "Hello, world.", "Hello, world."),
        ("Hallo Welt", "Hallo Welt!", "Hello world.", "Hello, world", "Hello, world"),
        # deleted: put back where only the clean translation has it
        ("世界。", "世界", "World.", "The world", "The world."),
        ("世界。", "世界", "World", "The world", "The world"),
        ("Wirklich?", "Wirklich", "Really?", "Really.", "Really."),
        ("„Ja.“", "„Ja“", "“Yes.”", "“Yes”", "“Yes.”"),
        # a letter at the end is nothing to undo
        ("Hallo Welt", "Hallo Weltx", "Hello world", "Hello world.", "Hello world."),
    ],
)
def test_the_paper_s_reset_undoes_what_was_done_and_nothing_else(
    clean_source: str, perturbed_source: str, clean: str, perturbed: str, expected: str
) -> None:
    assert reset_as_published(perturbed, clean, perturbed_source, clean_source) == expected
    assert RESETS["paper"](perturbed, clean, perturbed_source, clean_source) == expected
    assert RESETS["never"](perturbed, clean, perturbed_source, clean_source) == perturbed


def test_a_reset_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"reset.*allways.*auto.*never"):
        mt(systems="command[cmd=cat]", data=[("Ja.", "Yes.")], reset="allways", out=tmp_path / "run")  # type: ignore[arg-type]

"""Suites name the papers' sets; a user's own are YAML files."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.errors import UserError
from babelquake.perturb import PERTURBATIONS
from babelquake.perturb.suite import VARIANTS, suite, suite_names


@pytest.mark.parametrize("name", suite_names())
def test_every_shipped_suite_loads_and_says_what_it_is(name: str) -> None:
    found = suite(name)
    assert found.name == name and found.description and found.perturbations
    assert name in found.signature("en")
    assert suite([name]).perturbations[0].spec == found.perturbations[0].spec


def test_the_papers_levels() -> None:
    assert [change.cell for change in suite("niu2020").perturbations] == [("misspell", 0.1), ("case", 0.5)]
    vu = suite("vu2022").perturbations
    assert len(vu) == 20 and {change.level for change in vu} == {0, 0.1, 0.2, 0.3}
    assert len(suite("jwalapuram2023").perturbations) == 8
    kanojia = suite("kanojia2021")
    assert {kanojia.repeats(change) for change in kanojia.perturbations} == {1, 5, 20}


def test_specs_and_suites_mix_and_double_ones_count_once() -> None:
    found = suite(["misspell[level=0.1|0.2],case", "niu2020"])
    assert [str(change.spec) for change in found.perturbations] == [
        "misspell[level=0.1]",
        "misspell[level=0.2]",
        "case[level=0.5]",
    ]


def test_variants_are_one_row_per_text_perturbation_and_replicate() -> None:
    texts = ["Eins ist genug.", "", "東京"]
    table = suite("misspell[level=1],case,final-delete", 2).variants(["a", "b", "c"], texts, lang="de", seed=3)
    assert table.schema == pl.Schema(VARIANTS)
    assert table.height == 3 * (2 + 2 + 1)
    assert table.filter(perturbation="final-delete")["text"].to_list() == ["Eins ist genug", None, None]
    assert table.filter(perturbation="case", row=2)["text"].null_count() == 2
    first, second = (table.filter(perturbation="misspell", row=0, replicate=number)["text"][0] for number in (0, 1))
    assert first != second


@pytest.mark.parametrize("block", [1, 2, 5])
def test_cutting_into_blocks_changes_nothing(block: int) -> None:
    texts = [f"Das ist Satz {number}." for number in range(5)]
    changes = suite("misspell[level=0.5],case")
    whole = changes.variants(list("abcde"), texts, lang="de", seed=1)
    parts = [
        changes.variants(list("abcde")[start : start + block], texts[start : start + block], lang="de", seed=1)
        .with_columns(pl.col("row") + start)
        .cast({"row": pl.UInt32})
        for start in range(0, 5, block)
    ]
    keys = ["row", "perturbation", "replicate"]
    assert pl.concat(parts).sort(keys).equals(whole.sort(keys))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("description: mine\nreplicates: 3\nperturbations:\n  - misspell[level=0.1|0.2]\n  - niu2020\n")
    found = suite(str(file))
    assert (found.name, found.description) == ("mine", "mine")
    assert [change.cell for change in found.perturbations] == [("misspell", 0.1), ("misspell", 0.2), ("case", 0.5)]
    assert [found.repeats(change) for change in found.perturbations] == [3, 3, 3]
    assert suite(str(file), replicates=5).replicates == 5
    assert len(suite(f"{file},final-delete").perturbations) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("perturbations: [misspell", "YAML"),
        ("perturbations: misspell", "needs a list of names"),
        ("perturbations: []", "needs a list of names"),
        ("perturbations: [{misspell: 0.1}]", "needs a list of names"),
        ("- misspell", "needs a list of names"),
        ("", "needs a list of names"),
        ("perturbations: [mispell]", "no perturbation or suite is called 'mispell'. Did you mean 'misspell'"),
        ("perturbations: [misspell]\nreplicate: 2", "has an unknown key 'replicate'. Did you mean 'replicates'?"),
        ("perturbations: [misspell]\nreplicates: many", "replicates is 'many', expected a whole number from 1."),
        ("perturbations: ['misspell[level=2]']", "misspell[level=2]: 2 is outside 0 to 1."),
        ("perturbations: ['misspell[levle=0.1]']", "has no option 'levle'. Did you mean 'level'?"),
    ],
)
def test_a_wrong_file_is_told_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    with pytest.raises(UserError) as caught:
        suite(str(file))
    assert message in str(caught.value)


def test_no_file_no_name_no_perturbation(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.yaml cannot be read: No such file"):
        suite(str(tmp_path / "nowhere.yaml"))
    with pytest.raises(UserError, match=r"no perturbation or suite is called 'nu2020'\. Did you mean 'niu2020'"):
        suite("nu2020")
    with pytest.raises(UserError, match="no perturbation given"):
        suite(" , ")
    (tmp_path / "latin.yaml").write_bytes("perturbations: [misspell] # für".encode("latin-1"))
    with pytest.raises(UserError, match="is not UTF-8"):
        suite(str(tmp_path / "latin.yaml"))


def test_suites_that_contain_each_other_are_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(f"perturbations: ['{two}']", "utf-8")
    two.write_text(f"perturbations: [misspell, '{one}']", "utf-8")
    with pytest.raises(UserError, match="contains itself"):
        suite(str(one))


def test_all_is_every_perturbation_of_sentences_that_needs_no_model_and_is_no_pitfall() -> None:
    others = {name for name, card in PERTURBATIONS.items() if card.family == "pitfalls" or card.rearranges}
    every = set(PERTURBATIONS.names()) - others - {"mask-replace"}
    assert {change.name for change in suite("all").perturbations} == every


def test_the_sweep_of_niu_has_the_paper_s_levels() -> None:
    found = suite("niu2020-sweep").perturbations
    assert [(change.name, change.level) for change in found] == [
        *(("misspell", level) for level in (0.05, 0.1, 0.15, 0.2)),
        *(("case", level) for level in (0.3, 0.5, 0.7, 0.9)),
    ]
    assert {change.options.get("keyboard") for change in found} == {"qwerty", None}

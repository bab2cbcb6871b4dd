"""All numbers of a study at once: what they are taken over, and what cannot change them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from tests.studies.mt.made import CLEAN, NOISY, measures, named, tables, together

from babelquake.runs.measures import Measure
from babelquake.scorers import scorer
from babelquake.studies.mt.cells import Judged
from babelquake.studies.mt.results import mt_results


def test_measures_over_changed_texts_stand_beside_all() -> None:
    """Two of six texts were changed; the whole loss is theirs."""
    judge = scorer("chrf")
    noisy = [NOISY[0], *CLEAN[1:5], NOISY[5]]
    found = measures(judge, tables(judge, noisy, changed=[True, False, False, False, False, True]))
    here = named(found, perturbation="misspell")
    assert (here["robust"].n, here["robust"].changed, here["robust_changed"].n) == (6, 2, 2)
    assert here["robust"].value > here["robust_changed"].value  # type: ignore[operator]
    assert "Only 2 of 6" in str(here["robust"].note)
    assert here["inconsistent_changed"].n == 2
    assert not any(one.kind.name.endswith("_changed") for one in measures(judge, tables(judge)))


def test_blank_sources_are_left_out() -> None:
    judge = scorer("chrf")
    found = named(measures(judge, tables(judge, blank=2)), perturbation="misspell")
    assert found["inconsistent"].n == found["robust"].n == 5


def test_a_single_segment_proves_nothing_and_says_so() -> None:
    judge = scorer("chrf")
    scores, translations = (table.filter(pl.col("row") == 0) for table in tables(judge))
    found = named(mt_results(Judged.of(scores, translations, 100, 0), [judge], 75.0), perturbation="misspell")
    assert found["delta"].p == found["robust"].p == 1.0
    assert found["delta"].verdict == found["robust"].verdict == "cannot be tested"
    assert "1 segments" in str(found["delta"].note)


def test_the_order_of_rows_changes_nothing() -> None:
    judge = scorer("chrf")
    scores, translations = together([tables(judge), tables(judge, CLEAN, "b")])
    plain = mt_results(Judged.of(scores, translations, 300, 3), [judge], 75.0)
    order = {row: new for new, row in enumerate(np.random.default_rng(0).permutation(6))}
    moved = [
        table.with_columns(pl.col("row").replace_strict(order)).sort("system", "perturbation", "row")
        for table in (scores, translations)
    ]
    again = mt_results(Judged.of(*moved, 300, 3), [judge], 75.0)  # type: ignore[misc]

    def told(found: Sequence[Measure]) -> set[tuple[Any, ...]]:
        return {
            (one.kind.name, one.system, one.value, one.sd, one.low, one.high, one.p, one.p_corrected) for one in found
        }

    assert told(plain) == told(again)


def test_another_scorer_changes_no_verdict() -> None:
    chrf, bleu = scorer("chrf"), scorer("bleu")
    alone = [one for one in measures(chrf, tables(chrf)) if one.scorer == "chrf"]
    scores, translations = tables(chrf)
    both = pl.concat([scores, tables(bleu)[0]], how="diagonal")
    beside = [
        one for one in mt_results(Judged.of(both, translations, 500, 3), [chrf, bleu], 75.0) if one.scorer == "chrf"
    ]
    assert [(one.kind.name, one.p_corrected) for one in beside] == [(one.kind.name, one.p_corrected) for one in alone]

"""Marked errors character by character, as the WMT25 evaluation task counts them."""

import numpy as np
import pytest

from babelquake.stats.span_agreement import Mark, span_f1, span_precision, span_recall, span_row

MAJOR, MINOR = True, False


def test_the_wrong_severity_earns_half() -> None:
    gold = [Mark(0, 4, MAJOR), Mark(10, 12, MINOR)]
    marked = [Mark(2, 6, MINOR), Mark(10, 12, MINOR)]
    row = np.array(span_row(gold, marked, 20))
    assert row.tolist() == [2 * 0.5 + 2, 6, 6]
    assert float(span_precision(row)) == float(span_recall(row)) == float(span_f1(row)) == pytest.approx(0.5)


def test_errors_that_overlap_count_as_often_as_they_were_marked() -> None:
    row = span_row([Mark(0, 3, MAJOR), Mark(0, 3, MAJOR)], [Mark(0, 3, MAJOR)], 3)
    assert row == (3, 6, 3)


def test_what_lies_beyond_the_text_counts_for_nobody() -> None:
    assert span_row([Mark(0, 10, MINOR)], [Mark(5, 50, MINOR)], 8) == (3, 8, 3)


def test_nothing_marked_where_there_is_nothing_is_right() -> None:
    nothing = np.array(span_row([], [], 5))
    assert (float(span_precision(nothing)), float(span_recall(nothing)), float(span_f1(nothing))) == (1, 1, 1)
    silent = np.array(span_row([Mark(0, 2, MAJOR)], [], 5))
    assert (float(span_precision(silent)), float(span_recall(silent)), float(span_f1(silent))) == (1, 0, 0)

"""Translation edit rate in compiled code: fewest insertions, deletions, substitutions and shifts of words.

Snover et al. (2006) leave the search for shifts to a greedy heuristic. This follows Tercom's as sacreBLEU has it, with
its limits, so that the numbers agree: as long as it lowers the edit distance, make the one shift that lowers it most;
among equals prefer longer stretches, then earlier ones, then earlier goals.
"""

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.scorers.strings.code_points import Values
from babelquake.scorers.strings.pairs import Ids

MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
MAX_SHIFT_CANDIDATES = 1000
BEAM_WIDTH = 25
UNREACHED = 1 << 29
"""The cost of what lies outside the beam."""

Matrix = NDArray[np.int32]


@compiled
def edits(values: Values, starts: Ids, translation: Ids, reference: Ids) -> NDArray[np.float64]:
    """The number of edits from each translation to its reference."""
    counts = np.empty(len(translation), np.float64)
    for pair in range(len(translation)):
        words = values[starts[translation[pair]] : starts[translation[pair] + 1]].copy()
        target = values[starts[reference[pair]] : starts[reference[pair] + 1]]
        counts[pair] = len(words) if len(target) == 0 else _edits(words, target)
    return counts


@compiled
def _edits(words: Values, target: Values) -> int:
    """Shift `words` while that helps, then count what is left to edit; overwrites `words`."""
    costs = np.empty((len(words) + 1, len(target) + 1), np.int32)
    trial = np.empty_like(costs)
    for column in range(len(target) + 1):
        costs[0, column] = column
    aligned = np.empty(len(target), np.int64)
    word_wrong = np.empty(len(words) + 1, np.int64)
    target_wrong = np.empty(len(target) + 1, np.int64)
    shifted = np.empty_like(words)
    _fill_rows(costs, words, target, 0)
    shifts = candidates = 0
    while True:
        distance = int(costs[len(words), len(target)])
        if distance == 0:
            return shifts
        _align(costs, words, target, aligned, word_wrong, target_wrong)
        gain, size, start, goal, candidates = _best_shift(
            words, target, costs, trial, shifted, aligned, word_wrong, target_wrong, candidates
        )
        if candidates >= MAX_SHIFT_CANDIDATES or gain <= 0:
            return shifts + distance
        _shift(words, shifted, start, size, goal)
        words, shifted = shifted, words
        _fill_rows(costs, words, target, min(start, goal))
        shifts += 1


@compiled
def _fill_rows(costs: Matrix, words: Values, target: Values, start: int) -> None:
    """Edit distances of growing stretches of `words` (rows) and `target` (columns), from row `start` + 1 on.

    Only a band around the diagonal is filled; the last row runs to the end.
    """
    rows, columns = len(words), len(target)
    ratio = columns / rows if rows else 1.0
    width = int(np.ceil(ratio / 2 + BEAM_WIDTH)) if ratio / 2 > BEAM_WIDTH else BEAM_WIDTH
    for row in range(start + 1, rows + 1):
        diagonal = int(np.floor(row * ratio))
        low = max(0, diagonal - width)
        high = columns + 1 if row == rows else min(columns + 1, diagonal + width)
        word = words[row - 1]
        for column in range(low):
            costs[row, column] = UNREACHED
        for column in range(high, columns + 1):
            costs[row, column] = UNREACHED
        left = UNREACHED
        if low == 0:
            left = costs[row - 1, 0] + 1
            costs[row, 0] = left
        for column in range(max(low, 1), high):
            best = costs[row - 1, column - 1] + (word != target[column - 1])
            best = min(best, costs[row - 1, column] + 1)
            left = min(best, left + 1)
            costs[row, column] = left


@compiled
def _align(costs: Matrix, words: Values, target: Values, aligned: Ids, word_wrong: Ids, target_wrong: Ids) -> None:
    """Walk the cheapest edits backwards: which word each target word goes with, and running counts of what is wrong.

    Keeping or substituting is preferred to deleting a word, that to inserting one.
    """
    row, column = len(words), len(target)
    word_wrong[0] = target_wrong[0] = 0
    while row > 0 or column > 0:
        here = costs[row, column]
        differs = row > 0 and column > 0 and words[row - 1] != target[column - 1]
        if row > 0 and column > 0 and here == costs[row - 1, column - 1] + differs:
            aligned[column - 1] = row - 1
            word_wrong[row] = target_wrong[column] = differs
            row -= 1
            column -= 1
        elif row > 0 and here == costs[row - 1, column] + 1:
            word_wrong[row] = 1
            row -= 1
        else:
            aligned[column - 1] = row - 1
            target_wrong[column] = 1
            column -= 1
    for position in range(len(words)):
        word_wrong[position + 1] += word_wrong[position]
    for position in range(len(target)):
        target_wrong[position + 1] += target_wrong[position]


@compiled
def _best_shift(
    words: Values,
    target: Values,
    costs: Matrix,
    trial: Matrix,
    shifted: Values,
    aligned: Ids,
    word_wrong: Ids,
    target_wrong: Ids,
    candidates: int,
) -> tuple[int, int, int, int, int]:
    """The shift that lowers the distance most: (gain, size, start, goal) and how many were tried by now.

    Candidates are stretches that also stand in the target, wrong where they are and missing where they would go.
    """
    distance = costs[len(words), len(target)]
    best = (0, 0, 0, 0)
    found = False
    for start in range(len(words)):
        for place in range(max(0, start - MAX_SHIFT_DISTANCE), min(len(target), start + MAX_SHIFT_DISTANCE + 1)):
            longest = min(MAX_SHIFT_SIZE, len(words) - start, len(target) - place)
            for size in range(1, longest + 1):
                if words[start + size - 1] != target[place + size - 1]:
                    break
                if word_wrong[start + size] == word_wrong[start] or target_wrong[place + size] == target_wrong[place]:
                    continue
                if start <= aligned[place] < start + size:
                    continue
                previous = -1
                for offset in range(-1, size):
                    goal = 0 if place + offset < 0 else aligned[place + offset] + 1
                    if goal == previous:
                        continue
                    previous = goal
                    _shift(words, shifted, start, size, goal)
                    unchanged = min(start, goal)
                    for column in range(len(target) + 1):
                        trial[unchanged, column] = costs[unchanged, column]
                    _fill_rows(trial, shifted, target, unchanged)
                    candidate = (distance - trial[len(words), len(target)], size, -start, -goal)
                    candidates += 1
                    if not found or candidate > best:
                        found = True
                        best = candidate
                if candidates >= MAX_SHIFT_CANDIDATES:
                    return best[0], best[1], -best[2], -best[3], candidates
    return best[0], best[1], -best[2], -best[3], candidates


@compiled
def _shift(words: Values, shifted: Values, start: int, size: int, goal: int) -> None:
    """Move `size` words from `start` to before `goal`; a goal within them counts from behind them.

    Moving a stretch swaps it with its neighbour: `words[low:middle]` and `words[middle:high]` change places.
    """
    if goal < start:
        low, middle, high = goal, start, start + size
    else:
        low, middle, high = start, start + size, goal if goal > start + size else min(goal + size, len(words))
    for position in range(len(words)):
        source = position
        if low <= position < high:
            source = position + middle - low
            if source >= high:
                source -= high - low
        shifted[position] = words[source]

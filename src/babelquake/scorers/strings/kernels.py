"""What string metrics count in compiled code: words, n-grams, edits.

Words. One pass over the code points of many texts finds where words are cut that no white space parts; a cut at a
position parts the character there from the one before it. Another one numbers the words.

N-grams that two texts share are counted exactly. Those of a reference form a tree: an n-gram is a child of its first
n−1 symbols. The tree lives in one hash table whose key is (slot of the parent, next symbol), compared in full, so that
different n-grams never mix. A translation walks the tree from each of its positions and stops at the first n-gram the
reference lacks: no longer one can match.

Edits are the fewest insertions, deletions, substitutions and shifts of words. Snover et al. (2006) leave the search for
shifts to a greedy heuristic. This follows Tercom's as sacreBLEU has it, with its limits, so that the numbers agree: as
long as it lowers the edit distance, make the one shift that lowers it most; among equals prefer longer stretches, then
earlier ones, then earlier goals.
"""

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.scorers.strings.symbols import Ids, Symbols

Values = NDArray[np.uint32]
Table = NDArray[np.bool_]

SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def without(space: Table, values: Values, starts: Ids) -> tuple[Values, Ids]:
    """The texts less the symbols marked in a table; those beyond its end are kept."""
    kept = np.empty_like(values)
    kept_starts = np.zeros_like(starts)
    size = 0
    for text in range(len(starts) - 1):
        for position in range(starts[text], starts[text + 1]):
            value = values[position]
            kept[size] = value
            size += value >= len(space) or not space[value]
        kept_starts[text + 1] = size
    return kept[:size], kept_starts


@compiled
def numbered(space: Table, cut: Table, values: Values, starts: Ids) -> tuple[Values, Ids]:
    """The words between white space and cuts by number, and where each text's begin.

    Distinct words get numbers in order of appearance; a hash table finds candidates, a full comparison decides.
    """
    count = 0
    for text in range(len(starts) - 1):
        inside = False
        for position in range(starts[text], starts[text + 1]):
            value = values[position]
            blank = value < len(space) and space[value]
            count += not blank and (not inside or cut[position])
            inside = not blank
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    slots = np.full(1 << bits, -1, np.int32)
    hashes = np.empty(count, np.uint64)
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    numbers = np.empty(count, np.uint32)
    number_starts = np.zeros_like(starts)
    distinct = size = 0
    for text in range(len(starts) - 1):
        position, stop = starts[text], starts[text + 1]
        while position < stop:
            if values[position] < len(space) and space[values[position]]:
                position += 1
                continue
            begin, code = position, np.uint64(0)
            while True:
                code = (code ^ np.uint64(values[position])) * SPREAD
                code ^= code >> np.uint64(32)
                position += 1
                if position == stop or cut[position] or (values[position] < len(space) and space[values[position]]):
                    break
            slot = np.int64((code * SPREAD) >> shift)
            while True:
                known = slots[slot]
                if known < 0:
                    slots[slot] = known = distinct
                    hashes[known], begins[known], ends[known] = code, begin, position
                    distinct += 1
                    break
                if hashes[known] == code and ends[known] - begins[known] == position - begin:
                    offset = 0
                    while begin + offset < position and values[begins[known] + offset] == values[begin + offset]:
                        offset += 1
                    if begin + offset == position:
                        break
                slot = (slot + 1) & mask
            numbers[size] = known
            size += 1
        number_starts[text + 1] = size
    return numbers, number_starts


ZERO, NINE = ord("0"), ord("9")
STOP, COMMA, DASH = ord("."), ord(","), ord("-")
ALONE = np.zeros(128, np.bool_)
"""ASCII characters that are words of their own in `13a`, wherever they stand."""
ALONE[[ord(char) for char in ' !"#$%&()*+/:;<=>?@[\\]^_`{|}~']] = True
MARKS = np.zeros(128, np.bool_)
"""What chrF++ takes for punctuation."""
MARKS[[ord(char) for char in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]] = True


@compiled
def nowhere(space: Table, values: Values, starts: Ids) -> Table:
    """No cuts: words are what stands between white space."""
    return np.zeros(len(values), np.bool_)


@compiled
def western(space: Table, values: Values, starts: Ids) -> Table:
    """The cuts of mteval-v13a, as the four expressions of sacreBLEU's `13a` make them one after the other.

    Most ASCII marks stand alone. A full stop or comma is cut off on both sides unless it follows a digit, and if it
    does, unless a digit follows. Matches do not overlap: one that has just been cut off is no neighbour of the next
    stop or comma, which then stays with the digit behind it (`a..5` is `a . .5`). A dash is cut off after a digit.
    """
    cut = np.zeros(len(values) + 1, np.bool_)
    for text in range(len(starts) - 1):
        begin, end = starts[text], starts[text + 1]
        taken = follows_digit = False
        for position in range(begin, end):
            value = values[position]
            alone = value < 128 and ALONE[value]
            takes = False
            if value in (STOP, COMMA):
                takes = not follows_digit and not taken
                alone = takes or position + 1 == end or not ZERO <= values[position + 1] <= NINE
            elif value == DASH:
                alone = follows_digit
            if alone:
                cut[position] = cut[position + 1] = True
            taken = takes
            follows_digit = ZERO <= value <= NINE
    return cut[:-1]


@compiled
def one_mark(space: Table, values: Values, starts: Ids) -> Table:
    """The cuts of chrF++: between a word and its last character if that is a mark, else its first, never both."""
    cut = np.zeros(len(values), np.bool_)
    for text in range(len(starts) - 1):
        position, stop = starts[text], starts[text + 1]
        while position < stop:
            begin = position
            while position < stop and not (values[position] < len(space) and space[values[position]]):
                position += 1
            if position - begin > 1:
                if values[position - 1] < 128 and MARKS[values[position - 1]]:
                    cut[position - 1] = True
                elif values[begin] < 128 and MARKS[values[begin]]:
                    cut[begin + 1] = True
            position += 1
    return cut


Counts = NDArray[np.int64]
Keys = NDArray[np.uint64]
Tally = NDArray[np.int32]

ONE = np.uint64(1)
HALF = np.uint64(32)


def totals(lengths: Ids, order: int) -> Counts:
    """The number of n-grams of a text of L symbols for n = 1 … order: max(0, L − n + 1), shape (texts, order)."""
    return np.asarray(np.maximum(0, lengths[:, None] - np.arange(order)))


def shared(symbols: Symbols, translation: Ids, reference_set: Ids, set_starts: Ids, members: Ids, order: int) -> Counts:
    """Σ min(count in translation, greatest count in any reference of the set) per order, shape (pairs, order)."""
    by_set = np.argsort(reference_set, kind="stable")
    return _shared(symbols.values, symbols.starts, translation, reference_set, by_set, set_starts, members, order)


@compiled
def _shared(
    values: Values,
    starts: Ids,
    translation: Ids,
    reference_set: Ids,
    by_set: Ids,
    set_starts: Ids,
    members: Ids,
    order: int,
) -> Counts:
    longest = largest = 0
    for text in range(len(starts) - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    for group in range(len(set_starts) - 1):
        largest = max(largest, _size(starts, members[set_starts[group] : set_starts[group + 1]]))
    room = 1 << _bits(order * largest)
    keys = np.zeros(room, np.uint64)
    most = np.zeros(room, np.int32)
    seen = np.zeros(room, np.int32)
    touched = np.empty(longest * order, np.uint64)
    matches = np.zeros((len(translation), order), np.int64)
    current, bits = np.int64(-1), 0
    for pair in by_set:
        if reference_set[pair] != current:
            for slot in range((1 << bits) if bits else 0):
                keys[slot] = most[slot] = 0
            current = reference_set[pair]
            references = members[set_starts[current] : set_starts[current + 1]]
            bits = _bits(order * _size(starts, references))
            for text in references:
                _grow(values[starts[text] : starts[text + 1]], order, keys, most, seen, touched, bits)
        text = translation[pair]
        _match(values[starts[text] : starts[text + 1]], order, keys, most, seen, touched, bits, matches[pair])
    return matches


@compiled
def _size(starts: Ids, texts: Ids) -> int:
    """Symbols in all of the texts."""
    size = 0
    for text in texts:
        size += starts[text + 1] - starts[text]
    return size


@compiled
def _bits(entries: int) -> int:
    """The table for so many n-grams has 2 to this power slots and is at most half full."""
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return bits


@compiled
def _slot(keys: Keys, key: np.uint64, bits: int) -> np.uint64:
    """Where a key is, or would go."""
    mask = np.uint64((1 << bits) - 1)
    slot = (key * SPREAD) >> np.uint64(64 - bits)
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + ONE) & mask
    return slot


@compiled
def _grow(text: Values, order: int, keys: Keys, most: Tally, seen: Tally, touched: Keys, bits: int) -> None:
    """Enter a reference's n-grams into the tree, each with the greatest count in any reference so far."""
    visits = 0
    for start in range(len(text)):
        parent = np.uint64(0)
        for position in range(start, min(start + order, len(text))):
            key = (parent << HALF) | (np.uint64(text[position]) + ONE)
            slot = _slot(keys, key, bits)
            keys[slot] = key
            seen[slot] += 1
            most[slot] = max(most[slot], seen[slot])
            touched[visits] = slot
            visits += 1
            parent = slot + ONE
    for visit in range(visits):
        seen[touched[visit]] = 0


@compiled
def _match(
    text: Values, order: int, keys: Keys, most: Tally, seen: Tally, touched: Keys, bits: int, matches: Counts
) -> None:
    """Count the translation's n-grams that the tree has, each as often as the tree has it at most."""
    visits = 0
    for start in range(len(text)):
        parent = np.uint64(0)
        for position in range(start, min(start + order, len(text))):
            key = (parent << HALF) | (np.uint64(text[position]) + ONE)
            slot = _slot(keys, key, bits)
            if keys[slot] == 0:
                break
            matches[position - start] += seen[slot] < most[slot]
            seen[slot] += 1
            touched[visits] = slot
            visits += 1
            parent = slot + ONE
    for visit in range(visits):
        seen[touched[visit]] = 0


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

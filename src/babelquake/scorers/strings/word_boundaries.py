"""Where words are cut that no white space parts: one compiled pass each over the code points of many texts.

A cut at a position parts the character there from the one before it.
"""

import numpy as np

from babelquake.compiled import compiled
from babelquake.scorers.strings.code_points import Table, Values
from babelquake.scorers.strings.pairs import Ids

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

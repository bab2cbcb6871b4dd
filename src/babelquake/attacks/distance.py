"""Edit distance of two sequences, of characters or of words."""

from collections.abc import Hashable, Sequence

from babelquake.text import words


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and replacements, by Myers' bit vectors (1999) in Hyyrö's form.

    A column of the distance matrix is two whole numbers, one bit per item: where it rises and where it falls. Python's
    integers are as long as needed, so a sentence takes one pass over the other's items. What both begin and end with is
    left out.
    """
    one, other = _apart(one, other)
    if not one or not other:
        return len(one) + len(other)
    places: dict[Hashable, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << place
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    rises, falls, distance = full, 0, len(one)
    for item in other:
        same = places.get(item, 0)
        vertical = same | falls
        horizontal = (((same & rises) + rises) ^ rises) | same
        up = falls | ~(horizontal | rises) & full
        down = rises & horizontal
        distance += bool(up & last) - bool(down & last)
        up, down = up << 1 | 1, down << 1
        rises = (down | ~(vertical | up)) & full
        falls = up & vertical & full
    return distance


def _apart(one: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Two sequences without their common beginning and end."""
    least = min(len(one), len(other))
    start = next((place for place in range(least) if one[place] != other[place]), least)
    least -= start
    end = next((place for place in range(least) if one[-1 - place] != other[-1 - place]), least)
    return one[start : len(one) - end], other[start : len(other) - end]


def word_distance(one: str, other: str) -> int:
    """Words changed, inserted or deleted between two texts."""
    return edit_distance([span.text for span in words(one)], [span.text for span in words(other)])

"""One question to the detectors: which kinds do they see?"""

from collections.abc import Callable

import pytest

from babelquake.failures import detect

Kinds = Callable[..., set[str]]


@pytest.fixture(name="kinds")
def kinds_of() -> Kinds:
    """The kinds of failure in a translation."""

    def seen(source: str | None, translation: str, pair: str | None = "en-cs", *kinds: str) -> set[str]:
        return {failure.kind for failure in detect(source, translation, pair, kinds or None)}

    return seen

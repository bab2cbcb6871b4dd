"""Word classes come from the project's own lists, whatever taggers the machine has; tests of taggers say so."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from babelquake.perturb.linguistics import VARIABLE

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="module")
def word_lists_only() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "lists")
        yield

"""A system that waits: what an executor adds to a batch shows beside it, however busy the machine is."""

import time

SECONDS = 0.25


def wait(texts: list[str]) -> list[str]:
    """A batch after a quarter of a second."""
    time.sleep(SECONDS)
    return [text.upper() for text in texts]

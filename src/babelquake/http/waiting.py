"""How long to wait before a service is asked again."""

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds of back-off after the first failure, and at most."""


def back_off(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what was asked for, or a random half to whole of 1, 2, 4, … seconds."""
    if retry_after is not None:
        return retry_after
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt - 1, 16)) * random.uniform(0.5, 1)


def retry_after(header: str | None) -> float | None:
    """Seconds of a `Retry-After` header, which gives seconds or a date (RFC 9110 §10.2.3).

    What is no time to come – not a number, negative, a date that has passed – is no wish, and the usual back-off holds.
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError):
            return None
    return seconds if not math.isnan(seconds) and seconds > 0 else None

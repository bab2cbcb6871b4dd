"""In what a run and the command that would continue it differ, in words."""

from collections.abc import Mapping
from typing import Any


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The first option that a run was made with and that is another now; nothing where there is none."""
    for key in dict.fromkeys([*new, *old]):
        before, now = old.get(key), new.get(key)
        if before != now:
            if key == "data" and (named := _unhashed(before)) == _unhashed(now):
                return (
                    f"was made with other segments of {', '.join(named)}: they have changed, or the options that "
                    "choose from it (--limit, --columns, --reference)"
                )
            was, says = (_said("--" + key.replace("_", "-"), value) for value in (before, now))
            return f"was made with {was}; this command says {says}"
    return ""


def _unhashed(data: Any) -> list[str]:
    """Names of data without the hash of their content."""
    return [str(name).rsplit("#", 1)[0] for name in (data if isinstance(data, list) else [data])]


def _said(flag: str, value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"no {flag}" if value in (None, [], "") else f"{flag} {text if len(text) <= 60 else text[:59] + '…'}"

"""What a reader is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Targets = Literal["reference", "translation"]


@dataclass(frozen=True)
class Request:
    """One input as the user wrote it, and what else was said about it."""

    what: str
    columns: Mapping[str, str] | None = None
    language_pair: str | None = None
    reference: str | None = None
    """Which of several sets of references is meant, by name, or `all`."""
    targets: Targets = "reference"
    """What the targets of a bilingual file are: references, or translations by whoever the file is named after."""
    vendor: str | None = None
    """Whose translations these are, where the file's own name does not tell it from the others."""
    inline_tags: bool = False
    """Whether tags inside the segments of a bilingual file are kept in the texts, as `<g id="1">`."""

    @property
    def path(self) -> Path:
        """The input as a path (`-` is standard input)."""
        return Path(self.what)

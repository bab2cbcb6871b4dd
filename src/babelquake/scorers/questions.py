"""What a scorer is asked: segments to judge, one by one or column by column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from babelquake.errors import UserError


class Question(NamedTuple):
    """One segment to judge: everything that a scorer may look at."""

    translation: str
    references: tuple[str, ...] | None = None
    source: str | None = None

    @property
    def key(self) -> bytes:
        """What the question is known by in a cache: its texts with their lengths, so that no two share a key."""
        parts = (self.translation, *(self.references or ()), self.source or "")
        written = [part.encode("utf-8", "surrogatepass") for part in parts]
        shape = f"{'-' if self.references is None else len(self.references)} {'-' if self.source is None else '+'}"
        return b"\0".join([shape.encode(), *(b"%d %b" % (len(part), part) for part in written)])

    @property
    def characters(self) -> int:
        """How long all its texts are together."""
        return len(self.translation) + sum(map(len, self.references or ())) + len(self.source or "")


@dataclass(frozen=True)
class Questions:
    """Segments to judge, column by column; `references` holds one or more per segment."""

    translations: Sequence[str]
    references: Sequence[Sequence[str]] | None = None
    sources: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, column in (("references", self.references), ("sources", self.sources)):
            if column is not None and len(column) != len(self.translations):
                raise UserError(f"{len(self.translations)} translations but {len(column)} {name}: one each is needed.")

    def __len__(self) -> int:
        return len(self.translations)

    def rows(self, start: int, stop: int) -> "Questions":
        """The segments from `start` up to, not including, `stop`."""
        return Questions(
            self.translations[start:stop],
            None if self.references is None else self.references[start:stop],
            None if self.sources is None else self.sources[start:stop],
        )

    def take(self, rows: Sequence[int]) -> "Questions":
        """The segments at the given positions."""
        return Questions(
            [self.translations[row] for row in rows],
            None if self.references is None else [self.references[row] for row in rows],
            None if self.sources is None else [self.sources[row] for row in rows],
        )

    def one_by_one(self, needs: frozenset[str]) -> list[Question]:
        """One question per segment, with what a scorer needs and nothing else."""
        count = len(self.translations)
        given = self.references if "reference" in needs else None
        references = [None] * count if given is None else [tuple(some) for some in given]
        sources = self.sources if self.sources is not None and "source" in needs else [None] * count
        return list(map(Question, self.translations, references, sources))

    @classmethod
    def of(cls, questions: Sequence[Question]) -> "Questions":
        """Columns from single questions, all of which have the same columns."""
        if not questions:
            return cls([])
        first = questions[0]
        return cls(
            [question.translation for question in questions],
            None if first.references is None else [question.references or () for question in questions],
            None if first.source is None else [question.source or "" for question in questions],
        )

    def texts(self, needs: frozenset[str]) -> list[str]:
        """Every distinct text a scorer looks at: translations first, then references and sources."""
        found = dict.fromkeys(self.translations)
        if "reference" in needs and self.references is not None:
            found.update(dict.fromkeys(text for some in self.references for text in some))
        if "source" in needs and self.sources is not None:
            found.update(dict.fromkeys(self.sources))
        return list(found)

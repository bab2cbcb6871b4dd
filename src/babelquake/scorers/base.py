"""What every scorer is: `statistics` (one row of numbers per segment) and `aggregate` (summed rows → score).

Because corpus scores are functions of summed rows, one bootstrap, one significance test and one ratio serve every
scorer: a resample is a vector of counts, its sums are `counts @ statistics`, its score is `aggregate(sums)`.

A scorer that compares vectors names its encoders and receives the vectors: encoding each text once, in full batches,
and remembering it is the engine's work.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError, listed_texts
from babelquake.languages import sides
from babelquake.models.base import Encoder, Span, Vectors
from babelquake.models.chat import Cost
from babelquake.models.checkpoint import Checkpoint, N, Published
from babelquake.resource import Limits, Recipe
from babelquake.spec import Spec
from babelquake.stats.parallel import cores

if TYPE_CHECKING:
    import polars as pl


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


__all__ = [
    "Array",
    "Encode",
    "MeanScorer",
    "Question",
    "Questions",
    "Scorer",
    "VectorScorer",
    "Wanted",
    "encoded",
    "required",
]

Array = NDArray[np.float64]
T = TypeVar("T")


class Scorer(ABC):
    """Judges translations. Knows nothing of batching, caching, bootstrap or files."""

    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    """Which of `source` and `reference` must be given; `source` alone makes it quality estimation."""
    remote: ClassVar[bool] = False
    """Whether a call leaves this machine and may cost money: it counts against the budget."""
    may_refuse: ClassVar[bool] = False
    """Whether some texts may have no score, which leaves them out; remote scorers always may."""
    costly: ClassVar[bool] = False
    """Whether the engine should cache every result."""
    threads: ClassVar[bool] = False
    """Whether most of the work is compiled code, which threads do side by side."""
    tells_sides_apart: ClassVar[bool] = False
    """Whether it was trained to judge a translation by a reference, and so is not a likeness of any two texts."""
    higher_is_better: ClassVar[bool] = True
    ratio_scale: ClassVar[bool] = False
    """Whether ratios of scores mean anything: the scale has a true zero and higher is better, as BLEU's and chrF's."""
    perfect: ClassVar[float | None] = None
    """The score of a perfect match, where the scale has one."""
    extra: ClassVar[str | None] = None
    """The extra of this package without which the scorer cannot run, such as `neural`."""
    ships: ClassVar[str | Mapping[str, str] | None] = None
    """The model that ships and stands in for an option `model` that was not given, under `--offline`; or by option."""

    silence: ClassVar[str] = "It gave none (NaN or None): every text needs a number."
    """What a text without a score means, for the error that names it."""

    spec: Spec
    """How the scorer was asked for, or the name of its class; set by `babelquake.scorers.scorer`."""
    label: str | None = None
    """The option `name`, which every scorer takes; set by `babelquake.scorers.scorer`."""

    @property
    def name(self) -> str:
        """As tables show it: the `name` given, or the kind of scorer with its options."""
        return self.label or self.described

    @property
    def described(self) -> str:
        """The kind of scorer with its options."""
        return str(self.spec)

    @property
    def sign(self) -> int:
        """What scores are multiplied by to be better when higher: −1 for those that count errors."""
        return 1 if self.higher_is_better else -1

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that can change a score: options, versions, precision."""

    @property
    def limits(self) -> Limits:
        """How the engine should cut its calls: a costly scorer loses little when interrupted."""
        if self.costly:
            return Limits(texts=64, characters=16_000)
        return Limits(texts=2_048, concurrent=cores()) if self.threads else Limits(texts=16_384)

    @property
    def recipe(self) -> Recipe:
        """How a worker builds this scorer again."""
        return Recipe("scorer", self.spec)

    def close(self) -> None:  # noqa: B027 – most scorers hold nothing
        """Give back models and connections."""

    @property
    def ways(self) -> "tuple[Scorer, ...]":
        """The same scorer once for each way in which it is asked: with other prompts, in another order, again.

        Each way is asked, cached and paid for by itself; `together` makes one row of what they say.
        """
        return (self,)

    def together(self, rows: Sequence[Array]) -> Array:
        """The rows of all ways as one row per segment."""
        (only,) = rows
        return only

    def cost(self, questions: Sequence[Question]) -> Cost:
        """What it takes to have these questions answered in this way; tokens where it is asked by prompt."""
        return Cost(sum(question.characters for question in questions))

    @abstractmethod
    def statistics(self, questions: Questions) -> Array:
        """One row of numbers per segment, shape (segments, width)."""

    @abstractmethod
    def aggregate(self, statistics: Array) -> Array:
        """Scores of summed rows: shape (…, width) → (…)."""

    def of_document(self, statistics: Array, sentences: int) -> Array:
        """The row of a document that was judged as a whole, such that it weighs as much as its sentences would."""
        return statistics

    def score_rows(self, statistics: Array) -> Array:
        """Segment scores: each row taken as a corpus of one, unless the scorer has its own sentence level."""
        return self.aggregate(statistics)

    def attach(self, segments: "pl.DataFrame") -> Array | None:
        """Shown the data set's segments before a study judges them; only ready-made scores look at them.

        Gives the scores of these very rows where the scorer has them, NaN elsewhere.
        """
        return None

    @property
    def by_row(self) -> bool:
        """Whether its scores belong to the rows of a file by their order, so that `attach` must see all of them."""
        return False

    @property
    def notes(self) -> list[str]:
        """What a reader of its scores must know."""
        return []

    @property
    def trained_on(self) -> frozenset[str] | None:
        """The languages that its model was trained on; None where there is no model, or that is not known."""
        return None

    def unknown_languages(self, language_pairs: Iterable[str | None]) -> list[str]:
        """Languages of the texts it reads that its model was not trained on."""
        if self.trained_on is None:
            return []
        read = [sides(pair) if "source" in self.needs else sides(pair)[1:] for pair in language_pairs]
        return sorted({language.code for pair in read for language in pair if language is not None} - self.trained_on)

    def language_notes(self, language_pairs: Iterable[str | None]) -> list[str]:
        """What is to be said about languages that it does not know."""
        unknown = self.unknown_languages(language_pairs)
        return [f"{self.name} was not trained on {', '.join(unknown)}: its scores there say little."] if unknown else []

    def prepare(self, questions: Questions) -> None:  # noqa: B027 – most scorers judge each segment by itself
        """Shown all questions of a call before they are cut into batches; only weights from a corpus look at them."""

    @property
    def marks_errors(self) -> bool:
        """Whether the scorer says where a translation is wrong."""
        return False

    def remembers(self, question: Question) -> bool:
        """Whether marking the errors of a segment sends nothing, since judging it said them already."""
        return False

    def spans(self, questions: Questions) -> list[list[Span]]:
        """The errors that the scorer marks in each translation."""
        raise UserError(f"scorer '{self.name}' marks no errors.")

    def signature_for(self, references: int | None) -> str:
        """The signature for segments with that many references each; None where their number varies."""
        return self.signature

    def segments(
        self,
        translations: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> Array:
        """One score per segment."""
        return self.score_rows(self.statistics(questions_of(self, translations, references, sources)))

    def corpus(
        self,
        translations: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> float:
        """One score for the whole list."""
        rows = self.statistics(questions_of(self, translations, references, sources))
        return float(self.aggregate(rows.sum(axis=0)))


class MeanScorer(Scorer):
    """A scorer with one number per segment, averaged over the corpus: rows are (score, 1)."""

    @abstractmethod
    def judge(self, questions: Questions) -> Array:
        """One score per segment, shape (segments,)."""

    def statistics(self, questions: Questions) -> Array:
        """Rows of (score, 1): their sum holds what a mean needs."""
        return _rows(self.judge(questions) if len(questions) else np.zeros(0))

    def of_document(self, statistics: Array, sentences: int) -> Array:
        """The document's score once for each of its sentences."""
        return statistics * sentences

    def aggregate(self, statistics: Array) -> Array:
        """The mean: summed scores over their number; NaN where nothing was judged."""
        rows = np.asarray(statistics, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(rows[..., 0] / rows[..., 1])


class Wanted(NamedTuple):
    """An encoder that a scorer needs, and the layers it looks at."""

    encoder: Encoder
    layers: tuple[int, ...] = (0,)


Encode = Callable[[Encoder, Sequence[str], Sequence[int]], Vectors]
"""Who encodes texts: the engine, or the encoder itself."""


def encoded(encoder: Encoder, texts: Sequence[str], layers: Sequence[int]) -> Vectors:
    """Encodings without an engine."""
    return dict(zip(texts, encoder.encode(texts, layers), strict=True))


class VectorScorer(MeanScorer):
    """A scorer that compares vectors: it names its encoders and receives what they say of each text."""

    costly: ClassVar[bool] = True

    @abstractmethod
    def encoders(self) -> tuple[Wanted, ...]:
        """The encoders needed, with their layers."""

    @abstractmethod
    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """One score per segment, of which there is one at least, from the encodings of its texts, by encoder named."""

    @property
    def trained_on(self) -> frozenset[str] | None:
        """The languages that all of its encoders were trained on, as far as that is known."""
        trained = [found for wanted in self.encoders() if (found := wanted.encoder.languages) is not None]
        return frozenset.intersection(*trained) if trained else None

    @property
    def kin(self) -> Hashable:
        """Scorers of which this is the same are compared together, by `compare_all` of any of them."""
        return id(self)

    def compare_all(
        self, kin: "Sequence[VectorScorer]", questions: Questions, vectors: tuple[Vectors, ...]
    ) -> list[Array]:
        """The scores of each of the kin."""
        return [one.compare(questions, vectors) for one in kin]

    def texts(self, questions: Questions) -> list[str]:
        """The distinct texts to encode, as `compare` will look them up."""
        return questions.texts(self.needs)

    def statistics_of(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The rows for segments whose texts were encoded elsewhere."""
        return _rows(self.compare(questions, vectors))

    def statistics_of_all(
        self, kin: "Sequence[VectorScorer]", questions: Questions, vectors: tuple[Vectors, ...]
    ) -> Array:
        """The same of each of the kin, shape (segments, kin, width)."""
        return np.stack([_rows(scores) for scores in self.compare_all(kin, questions, vectors)], axis=1)

    def judge(self, questions: Questions) -> Array:
        """Scores without an engine: every text is encoded here and now."""
        return self.compare(questions, self.vectors(questions)) if len(questions) else np.zeros(0)

    def vectors(self, questions: Questions, encode: Encode = encoded) -> tuple[Vectors, ...]:
        """What the encoders say of the questions' texts."""
        texts = self.texts(questions)
        return tuple(encode(encoder, texts, layers) for encoder, layers in self.encoders())

    def calibrate(self, segments: "pl.DataFrame", encode: Encode = encoded) -> None:
        """Shown the data set's segments before a study judges them, with a way to encode them."""

    def close(self) -> None:
        for wanted in self.encoders():
            wanted.encoder.close()


def required(column: Sequence[T] | None, scorer: Scorer, what: str) -> Sequence[T]:
    """A column that the scorer needs, or an error that names it."""
    if column is None:
        raise UserError(f"scorer '{scorer.name}' needs the {what} of every segment.")
    return column


def questions_of(
    scorer: Scorer,
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]] | None,
    sources: Sequence[str] | None,
) -> Questions:
    """Questions from plain lists; says which column the scorer misses."""
    translations = listed_texts("translations", translations)
    references = None if references is None else listed_texts("references", references)
    sources = None if sources is None else listed_texts("sources", sources)
    for column, given in (("reference", references), ("source", sources)):
        if column in scorer.needs and given is None:
            required(None, scorer, column)
    lists = None if references is None else [[item] if isinstance(item, str) else item for item in references]
    return Questions(translations, lists, sources)


def _rows(scores: Array) -> Array:
    values = np.asarray(scores, dtype=np.float64)
    return np.stack([values, np.ones_like(values)], axis=1)


class PublishedScorer(Published[N], MeanScorer, Generic[N]):
    """A scorer that is a checkpoint."""

    extra: ClassVar[str | None] = "neural"
    costly: ClassVar[bool] = True

    @property
    def described(self) -> str:
        return shown(self.spec, self.checkpoint)

    @property
    def special(self) -> Mapping[str, object]:
        """What the signature says beyond checkpoint, precision and libraries."""
        return {}

    @cached_property
    def signature(self) -> str:
        return self.signed(self.metric, **self.special)


def shown(spec: Spec, checkpoint: Checkpoint) -> str:
    """The name with the checkpoint's own name, not the path to it."""
    options = dict(spec.options)
    if "model" in options:
        options["model"] = checkpoint.name
    return str(Spec(spec.name, tuple(sorted(options.items()))))


def best_reference(
    questions: Questions,
    references: Sequence[Sequence[str]],
    judge: Callable[[Questions], Array],
    best: Callable[[Array], float] = np.max,
) -> Array:
    """Every translation judged with each of its references; the best score counts."""
    rows = [row for row, some in enumerate(references) for _ in some]
    each = questions.take(rows)
    flat = [[reference] for some in references for reference in some]
    scores = judge(Questions(each.translations, flat, each.sources))
    ends = np.cumsum([len(some) for some in references])
    return np.array([best(part) for part in np.split(scores, ends[:-1])], dtype=np.float64)

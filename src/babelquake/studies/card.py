"""A study's card: its name, its question, what it measures, and which falls a gate must stop; and its session.

The card is all that readers need to know of a study without running it. A new study is one folder here with its card
and its steps, one file under `report/pages/` and one under `cli/`; other packages bring theirs through the entry-point
groups `babelquake.studies`, `babelquake.pages` and `babelquake.commands`. The session is what every study does at its
beginning and its end: resume, lock, attach, sign, finish.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any, Literal, Self

import polars as pl

from babelquake.errors import BabelquakeError, ResumableError, UserError, setting
from babelquake.perturb.vocabulary import Vocabulary
from babelquake.registry import Registry
from babelquake.runs.findings import Finding, in_order
from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array, VectorScorer
from babelquake.spec import run_signature
from babelquake.studies.cells import Cell
from babelquake.studies.kinds import over_changed
from babelquake.studies.options import RunOptions
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import model_signatures
from babelquake.warnings_log import Warnings, collecting, with_count

Language = Callable[[str | None], str | None]
"""Which language of a pair was perturbed."""


class RunInProgress:
    """A run under way. Used as a context: the folder is held while it lasts, and how it ended is noted."""

    def __init__(self, study: str, options: RunOptions, **resolved: Any) -> None:
        self.study = study
        self.run = Run.resume(options.folder(study), study, options.identity(**resolved), options.restart)
        self._said = options.said(str(resolved.get("data", "")).rpartition("#")[0])
        self._stack = ExitStack()
        self._warnings = Warnings()

    def __enter__(self) -> Self:
        self._stack.enter_context(self.run.alone())
        self._warnings = self._stack.enter_context(collecting())
        self.run.mend()
        self.run.info.words = list(STUDIES.get(self.study).words)
        self.run.note_options(self._said)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self.run.info.finished is None:
            stopped = isinstance(error, KeyboardInterrupt | ResumableError)
            self.run.info.status = "interrupted" if stopped else "failed"
            self._note()
            with suppress(OSError, BabelquakeError):
                self.run.save()
        self._stack.close()

    @property
    def finished(self) -> bool:
        """Whether the run already has everything."""
        return self.run.has("measures") and self.run.info.finished is not None

    def once(self, table: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """A table, computed and stored the first time, read back from then on."""
        return self.run.once(table, make)

    def say(self, *notes: str) -> None:
        """Notes for the reader, each once, in the order they were made."""
        self.run.info.notes = list(dict.fromkeys([*self.run.info.notes, *notes]))

    def signed(self, measures: Iterable[Measure], signature: Callable[[Measure], str]) -> Run:
        """Sign every measure and complete the run folder."""
        self._note()
        found = list(measures)
        if not found:
            self.say("Nothing could be measured: there are too few segments or judgements. Use more data.")
        for measure in found:
            measure.study, measure.signature = self.study, signature(measure)
        return self.run.finish(measures_frame(found), STUDIES.get(self.study).findings)

    def _note(self) -> None:
        """Note what those below have to say; what was counted adds up over interruptions."""
        info, counts = self.run.info, self._warnings.take()
        former = {with_count(what, info.facts.remarks[what]) for what in counts if what in info.facts.remarks}
        info.notes = [note for note in info.notes if note not in former]
        info.facts.remarks |= {what: info.facts.remarks.get(what, 0) + count for what, count in counts.items()}
        self.say(*(with_count(what, info.facts.remarks[what]) for what in counts))


class Session(RunInProgress):
    """A run that scorers judge, in which data may be perturbed."""

    def __init__(self, study: str, plan: Plan, resolved: Mapping[str, Any]) -> None:
        options: Any = plan.options
        if not plan.scorers and options.needs_scorers:
            name = "victims" if hasattr(options, "victims") else "scorers"
            raise UserError(f"No scorer given. Use {setting(name, metavar='SCORER')}, such as chrf.")
        self.data, self.scorers, self.suite = plan.data, [*plan.scorers], plan.suite
        self.unit = plan.unit if plan.unit == "document" else None
        self.seed, self.resamples, self.engine = options.seed, options.resamples, options.made_engine()
        known: dict[str, Any] = {
            "scorers": self.scorers,
            "victims": self.scorers,
            "language_pair": self.data.language_pairs,
            "data": f"{self.data.name}#{self.data.hash}",
            "suite": self.suite,
            "replicates": self.suite and [self.suite.repeats(one) for one in self.suite.perturbations],
            "unit": self.unit or getattr(options, "unit", None),
        }
        super().__init__(study, options, **known | dict(resolved))
        self.words: Mapping[str | None, Vocabulary] = {}
        """The words of each language pair's own texts, where perturbations draw from them."""
        self.ready: dict[str, Array] = {}
        """Scores that came with the data, row by row, of scorers that have such."""
        self.system_signatures: dict[tuple[str | None, str], str] = {}
        self._scorer_signatures: dict[str, str] = {}
        self._model_signatures: dict[str, str] = {}

    def attach(self, references: int | None) -> None:
        """Show the scorers the data and note how they judge: segments have that many references each."""
        for scorer in self.scorers:
            segments, rows = self.data.uncut if scorer.by_row and self.data.uncut else (self.data.segments, slice(None))
            if (scores := scorer.attach(segments)) is not None:
                self.ready[scorer.name] = scores[rows]
            if isinstance(scorer, VectorScorer):
                scorer.calibrate(segments, self.engine.encode)
            self.say(*scorer.language_notes(self.data.language_pairs), *scorer.notes)
        self._scorer_signatures = {scorer.name: scorer.signature_for(references) for scorer in self.scorers}
        self._model_signatures = model_signatures(self.suite)
        signed = {f"scorer {name}": text for name, text in self._scorer_signatures.items()}
        signed |= {f"masked language model of {label}": text for label, text in self._model_signatures.items()}
        self.run.same_signatures(signed)

    def note_systems(self, signatures: Mapping[tuple[str | None, str], str]) -> None:
        """Note how the systems translate; refuse to go on where one of the same name does otherwise now."""
        self.system_signatures = dict(signatures)
        self.run.same_signatures(
            {" ".join(filter(None, ["system", name, pair])): text for (pair, name), text in signatures.items()}
        )

    def _note(self) -> None:
        """Note what the engine and those below it have to say, and who gave no scores."""
        self.say(*self.engine.notes)
        super()._note()
        self.say(*self._unscored())

    def _unscored(self) -> list[str]:
        """How many texts a judge gave no score, now or when the cache learnt it: means leave them out."""
        named = [scorer.name for scorer in self.scorers if scorer.remote or scorer.may_refuse]
        if not named or not self.run.has("scores"):
            return []
        scores = self.run.scan("scores").filter(pl.col("scorer").is_in(named))
        found = scores.group_by("scorer", maintain_order=True).agg(
            pl.col("score").fill_nan(None).null_count().alias("none"), pl.len().alias("all")
        )
        return [
            f"{name} gave no score to {none:,} of {count:,} texts; they are left out of every mean."
            for name, none, count in found.collect().rows()
            if none
        ]

    def finish(
        self,
        measures: Iterable[Measure],
        *,
        language: Language = lambda pair: None,
        extra_signatures: Mapping[str, str] | None = None,
        **facts: object,
    ) -> Run:
        """Sign every measure and complete the run folder; `language` tells which language of a pair was perturbed."""
        info = self.run.info
        info.facts.lower_is_better = [scorer.name for scorer in self.scorers if not scorer.higher_is_better]
        if self.suite is not None:
            pairs: list[str | None] = [*self.data.language_pairs] or [None]
            told = {language(pair): self.suite.signature(language(pair), self.words.get(pair)) for pair in pairs}
            several = len(told) > 1
            info.signatures |= {f"suite {lang}" if lang and several else "suite": text for lang, text in told.items()}
        continued = "+".join(f"{name} {new}" for name, new in sorted(info.continued.items())) or None
        common = run_signature(
            seed=self.seed,
            data=self.data.hash,
            **facts,
            unit=self.unit,
            resamples=self.resamples,
            continued=continued,
        )
        scorers = {**(extra_signatures or {}), **self._scorer_signatures}
        known = {one.cell: one for one in self.suite.perturbations} if self.suite else {}

        def signature(measure: Measure) -> str:
            parts = [self.system_signatures.get((measure.language_pair, measure.system or ""))]
            perturbation = known.get((measure.perturbation or "", measure.level))
            if self.suite is not None and perturbation is None and measure.perturbation:
                parts.append(f"given:{measure.perturbation}")
            if perturbation is not None and self.suite is not None:
                pair = measure.language_pair
                drawn = perturbation.signature(language(pair), self.words.get(pair))
                model = self._model_signatures.get(perturbation.label)
                parts += [f"{drawn}×{self.suite.repeats(perturbation)}", model]
            return "|".join(filter(None, [*parts, scorers.get(measure.scorer or ""), common]))

        return self.signed(measures, signature)


Cells = Callable[[Run, list[Scorer], int, int], Iterable[Cell]]
"""From a finished run, its scorers, a number of resamples and a seed."""


@dataclass(frozen=True)
class Study:
    """A protocol: perturb, translate or score, compare."""

    name: str
    options: type[RunOptions]
    """What it can be told."""
    question: str
    words: tuple[str, ...] = ()
    """Its command, where that is not called like the study."""
    inputs: tuple[str, ...] = ()
    """What the data must have, whatever else is asked: columns, `a|b` where either will do."""
    measures: tuple[Kind, ...] = ()
    gated: tuple[str, ...] = ()
    """Measures that must not get worse between two runs."""
    alike: tuple[str, ...] = ()
    """Options that two runs must share for their numbers to mean the same."""
    subject: Literal["system", "scorer"] = "scorer"
    """What is under test."""
    cells: Cells = lambda run, scorers, resamples, seed: ()
    """The cells of a finished run, worked out again from its tables: what paired comparisons between runs need."""
    placed: Callable[[Run, dict[str, Any]], dict[str, Any]] = lambda run, row: row
    """A row of a finished run's measures with the system under test in the column of systems."""
    overall: Callable[[Sequence[tuple[Cell, Cell]]], Iterable[tuple[Cell, Cell]]] = lambda pairs: ()
    """Cells of what two runs say overall, old and new, from their other cells in pairs."""
    plan: Callable[[Any], Plan] | None = None
    """What a run with these options will do; None for a study that asks nobody anything."""
    findings: Callable[[Run], list[Finding]] = lambda run: []
    """What a run's measures say, as data; `report` puts it into words."""
    counts: Callable[[Run, str, str | None], bool] = lambda run, measure, perturbation: True
    """Whether a gated measure under a perturbation is one that must not get worse."""

    def label(self, measure: str) -> str:
        """What people call one of its measures, also where it is a difference or over changed texts alone."""
        kinds = {made.name: made for kind in self.measures for made in (over_changed(kind), kind.difference(), kind)}
        return kinds[measure].label if measure in kinds else measure.replace("_", " ")

    def session(self, plan: Plan, **resolved: Any) -> Session:
        """Begin the run that was planned, or continue the one of the same options.

        `resolved` says what options turned out to mean: the names of models that stand in, say.
        """
        for either in self.inputs:
            if not any(plan.data.has(name) for name in either.split("|")):
                lacking = either.replace("|", " and no ")
                raise UserError(f"{plan.data.name} has no {lacking}, which the study {self.name} needs.")
        return Session(self.name, plan, resolved)


def findings_of(run: Run) -> list[Finding]:
    """What a run found: as it was stored, or worked out from its measures where an earlier version made the run."""
    if run.info.findings is not None:
        return run.info.findings
    return in_order(STUDIES.get(run.info.study).findings(run))


def function_of(study: str) -> Callable[..., Run]:
    """The function that runs a study of ours: it is called like it."""
    found: Callable[..., Run] = getattr(import_module(f"babelquake.studies.{study}.study"), study)
    return found


OURS = ("attack", "challenge", "check", "correlate", "human", "metric", "mt", "qe")
STUDIES: Registry[Study] = Registry(
    "study",
    "babelquake.studies",
    {name: f"babelquake.studies.{name}.study:{name.upper()}" for name in OURS},
)

"""run.json, typed to the last field: how a run was made, and what its readers must know beside its tables.

From it follow the command that makes the run again, and the signatures of everything that took part.
"""

import platform
import shlex
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, JsonValue

from babelquake.runs.findings import Finding
from babelquake.version import VERSION

if TYPE_CHECKING:
    from babelquake.runs.run import Run

PACKAGES = ("numpy", "scipy", "polars", "sacrebleu", "ctranslate2", "sentencepiece", "torch", "transformers", "spacy")
Status = Literal["begun", "interrupted", "failed", "finished"]


class Audit(BaseModel):
    """What is wrong with the test set itself; shares in per cent, None where nothing could be looked at."""

    segments: int = 0
    mismatched_endings: float | None = None
    duplicate_sources: float | None = None
    blank_sources: float | None = None
    endings: dict[str, int] = Field(default_factory=dict)
    """How many sources end in a full stop, an exclamation mark, a question mark, something else or nothing."""


class Probe(BaseModel):
    """What a perturbation means in a study of quality estimation."""

    meaning: str
    title: str


class Flag(BaseModel):
    """A warning that a study gives a scorer, in plain words."""

    language_pair: str | None = None
    scorer: str
    perturbation: str | None = None
    text: str


class Expected(BaseModel):
    """What an ideal scorer does of a change: `below`, `not below`, `not above` or `same`."""

    rule: str
    than: str | None = None
    """The change it is compared with; None for the text as it is."""
    level: float | None = None
    """The level of that change; None for the same level."""


class Facts(BaseModel):
    """What readers of a run must know beside its numbers."""

    audit: Audit | None = None
    meaning: dict[str, str] = Field(default_factory=dict)
    """Perturbation → preserving, altering or depends."""
    expectations: dict[str, Expected] = Field(default_factory=dict)
    """Perturbation → what an ideal scorer does of it, where the suite says so."""
    probes: dict[str, Probe] = Field(default_factory=dict)
    left_out: str | None = None
    """Probes that the suite has and the run has not, and why."""
    flags: list[Flag] = Field(default_factory=list)
    lower_is_better: list[str] = Field(default_factory=list)
    """Scorers that count errors."""
    remarks: dict[str, int] = Field(default_factory=dict)
    """What was counted while the run was made, such as texts that a model cut; its notes say it."""
    selection: str | None = None
    modes: list[str] = Field(default_factory=list)
    """Which of a study's questions the run answers."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Facts of studies that other packages bring."""


class RunInfo(BaseModel):
    """run.json."""

    study: str
    config: dict[str, JsonValue]
    """Everything that can change a result, as it was understood."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """What was asked for beyond the defaults, as the command line writes it: for the command that makes it again."""
    words: list[str] = Field(default_factory=list)
    """The command with what it is given by position, where it is not called like the study."""
    versions: dict[str, str] = Field(default_factory=dict)
    signatures: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    timings: dict[str, float] = Field(default_factory=dict)
    facts: Facts = Field(default_factory=Facts)
    findings: list[Finding] | None = None
    """What the study found, the most important first; None while the run is unfinished."""
    created: str = ""
    finished: str | None = None
    status: Status = "begun"
    """How far the run is. One that was killed is still `begun`, and nobody holds its lock."""
    files: dict[str, str] = Field(default_factory=dict)
    """What the run has written, by name, with a checksum: what else lies in the folder is not the run's."""
    continued: dict[str, str] = Field(default_factory=dict)
    """Libraries that had another version when the run was continued than when it was begun."""

    def listed(self, option: str) -> list[str]:
        """The values of a repeatable option."""
        value = self.config.get(option)
        return [str(item) for item in value] if isinstance(value, list) else [] if value is None else [str(value)]

    def number(self, option: str, default: float) -> float:
        """The value of a numeric option."""
        value = self.config.get(option)
        return float(value) if isinstance(value, int | float) else default


def versions() -> dict[str, str]:
    """The versions of Python and of what results depend on."""
    found = {"python": platform.python_version(), "babelquake": VERSION}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time, to the second, as run.json writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def command_line(run: "Run") -> str:
    """The command line on one line."""
    return " ".join(command_lines(run))


def command_lines(run: "Run") -> list[str]:
    """The command line, repeated options on separate lines."""
    lines = [["babelquake", *(run.info.words or [run.info.study])]]
    single: list[str] = []
    for key, value in run.info.options.items():
        words = _flag("--" + key.replace("_", "-"), value)
        if len(words) > 2:
            lines.append(words)
        else:
            single += words
    return [shlex.join(words) for words in [*lines, [*single, "--out", run.folder.name or "RUN"]]]


def signatures(run: "Run") -> dict[str, str]:
    """Who took part, data and version included."""
    named = dict(run.info.signatures)
    data = run.info.config.get("data")
    if data:
        named["data"] = ", ".join(map(str, data)) if isinstance(data, list) else str(data)
    named["babelquake"] = run.info.versions.get("babelquake", "")
    return {name: text for name, text in named.items() if text}


def _flag(flag: str, value: Any) -> list[str]:
    if value is None or value is False or value == []:
        return []
    if value is True:
        return [flag]
    if isinstance(value, list):
        return [word for item in value for word in (flag, str(item))]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]

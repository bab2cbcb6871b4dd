"""The settings of every training: one YAML (or JSON) file, checked before anything costly begins."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from babelquake.errors import UserError, did_you_mean
from babelquake.limits import json_of, text_of, yaml_of

AnyBounded = TypeVar("AnyBounded", bound="Bounded")
CONFIGS = Path(__file__).parent / "configs"
Part = TypeVar("Part")


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the Transformer; the defaults are the 13 M parameter model that ships."""

    width: int = 320
    feedforward: int = 1280
    heads: int = 5
    encoder_layers: int = 6
    decoder_layers: int = 2
    dropout: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """What every training has. Learning rate: linear warm-up over `warmup` steps, then linear to zero at the bound.

    `steps` or `minutes` bounds it. A training bounded by steps sees the same batches every time; one bounded by minutes
    does as many steps as the machine allows, and its card says how many, so that it can be repeated with `steps`.
    """

    name: str
    weight_decay: float = 0.01
    clip: float = 1.0
    steps: int | None = None
    minutes: float | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            raise UserError(f"config '{self.name}': give either steps or minutes, to bound the training.")

    def bounded(self, *, steps: int | None = None, minutes: float | None = None) -> Self:
        """The same training with another bound."""
        return self if steps is None and minutes is None else replace(self, steps=steps, minutes=minutes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they are written into checkpoints and cards."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Config(Bounded):
    """The training of a translation model."""

    segmentation: str = "bpe"
    vocabulary: int = 8000
    model: ModelConfig = field(default_factory=ModelConfig)
    batch_tokens: int = 32768
    source_length: int = 128
    target_length: int = 112
    learning_rate: float = 1.6e-3
    warmup: int = 1000
    label_smoothing: float = 0.1
    validate_every: int = 1000
    precision: str = "bf16"
    compile: bool = True
    workers: int = 4
    init: str | None = None
    """The model to go on from (`start`); shape and vocabulary are that model's."""
    noise: str | None = None
    """Perturbations of the sources, as a suite or a list of specs: a text of every epoch draws anew from it."""
    noise_share: float = 0.3
    """The share of sources that are changed."""
    noise_strength: tuple[float, float] = (0.5, 1.5)
    """Each level is drawn between these many times the suite's."""
    language: str | None = None
    """The sources' language, which some perturbations need (`de`)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.width % (2 * self.model.heads):
            raise UserError(f"config '{self.name}': width {self.model.width} is not a multiple of 2 x heads.")
        if self.precision not in ("bf16", "fp32"):
            raise UserError(f"config '{self.name}': precision is '{self.precision}', expected bf16 or fp32.")
        if min(self.source_length, self.target_length) % 8 or self.batch_tokens < self.source_length:
            raise UserError(f"config '{self.name}': row lengths must be multiples of 8 and fit into batch_tokens.")
        if not 100 <= self.vocabulary < 2**15:
            raise UserError(f"config '{self.name}': a vocabulary of {self.vocabulary}, expected 100 to 32767.")

    @property
    def rows(self) -> int:
        """Rows of a batch; every batch of a run has this one shape."""
        return self.batch_tokens // self.source_length


def load(config: str | Path | Mapping[str, Any], **overrides: Any) -> Config:
    """A translation model's training from a file, a bundled name (`de-en-bpe`) or a mapping; overrides win."""
    return read_settings(Config, "nmt", config, **overrides)


def read_settings(
    known: type[AnyBounded], kind: str, config: str | Path | Mapping[str, Any], **overrides: Any
) -> AnyBounded:
    """A training's settings from a file, a bundled name or a mapping; `kind` is the kind of training, overrides win.

    A bound that is given replaces the config's.
    """
    where = "config" if isinstance(config, Mapping) else str(config)
    bound = {key: overrides.pop(key, None) for key in ("steps", "minutes")}
    values = settings(config, kind, **overrides)
    check(values, known, where)
    if "name" not in values:
        raise UserError(f"{where}: name is missing.")
    for entry in fields(known):
        inner = entry.default_factory
        if isinstance(given := values.get(entry.name), Mapping) and isinstance(inner, type) and is_dataclass(inner):
            check(given, inner, where)
            values[entry.name] = inner(**given)
        elif isinstance(given, list):
            values[entry.name] = tuple(given)
    try:
        return known(**values).bounded(**bound)
    except TypeError as problem:
        raise UserError(f"{where}: {problem}.") from problem


def settings(config: str | Path | Mapping[str, Any], kind: str, **overrides: Any) -> dict[str, Any]:
    """The plain settings of a config of one kind of training (`nmt`, `mlm`, …); overrides that are given win."""
    values = dict(config) if isinstance(config, Mapping) else _read(Path(config), kind)
    return values | {key: value for key, value in overrides.items() if value is not None}


def parts(config: str | Path | Mapping[str, Any], kind: str, recipe: type[Part], **overrides: Any) -> list[Part]:
    """The recipes of a training that goes on from where its last part ended: `parts`, each over the other settings."""
    where = "config" if isinstance(config, Mapping) else str(config)
    shared = settings(config, kind)
    rows = shared.pop("parts", [{}])
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{where}: parts is not a list of settings, such as '- {{minutes: 5, rate: 0.001}}'.")
    given = {key: value for key, value in overrides.items() if value is not None}
    made = [shared | row | given for row in rows]
    usual = vars(recipe())
    for values in made:
        check(values, recipe, where)
        for key, value in values.items():
            if type(value) is not (kind_of := type(usual[key])) and not (kind_of is float and type(value) is int):
                raise UserError(f"{where}: {key} is {value!r}, expected something like {usual[key]!r}.")
    return [recipe(**values) for values in made]


def bundled(kind: str) -> dict[str, Path]:
    """The configs of the models that ship, by name, for one kind of training."""
    return {path.stem: path for path in sorted((CONFIGS / kind).glob("*.yaml"))}


def kinds() -> list[str]:
    """The kinds of training that have configs: clm, metric, mlm, nmt, qe, vectors."""
    return sorted(path.name for path in CONFIGS.iterdir() if path.is_dir())


def _read(path: Path, kind: str) -> dict[str, Any]:
    known = bundled(kind)
    path = known.get(str(path), path)
    if not path.is_file():
        raise UserError(f"no config file {path}, and no bundled config of that name. {did_you_mean(str(path), known)}")
    values = (json_of if path.suffix == ".json" else yaml_of)(text_of(path), str(path))
    if not isinstance(values, dict):
        raise UserError(f"{path}: expected a mapping of settings, such as 'segmentation: bpe'.")
    return values


def check(values: Mapping[str, Any], kind: type, where: str) -> None:
    """Refuse a setting that `kind` does not have."""
    known = [entry.name for entry in fields(kind)]
    for key in values:
        if key not in known:
            raise UserError(f"{where}: there is no setting '{key}'. {did_you_mean(key, known)}")


@dataclass(frozen=True)
class Shape:
    """Shape of a Transformer that is trained from scratch."""

    width: int = 384
    layers: int = 6
    heads: int = 6
    feedforward: int = 1536


@dataclass(frozen=True, kw_only=True)
class Recipe(Bounded):
    """The training of a language model or a metric.

    A batch holds `batch_tokens` tokens, padding included, of texts of about the same length; a text longer than
    `length` tokens is cut. `compile` compiles the layers, which pays on a GPU after a minute or two.
    """

    batch_tokens: int = 65536
    length: int = 128
    learning_rate: float = 5e-4
    warmup: int = 500
    dropout: float = 0.1
    compile: bool = False
    card: Mapping[str, Any] = field(default_factory=dict)
    """What the model's card says besides: data, licences, limits, how the seed was chosen."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_tokens < self.length:
            raise UserError(f"config '{self.name}': batch_tokens {self.batch_tokens} is too small for one text.")

    def until(self, end: float | None) -> Self:
        """The same training, bounded by the time left until `end` (seconds since the epoch), where that is given."""
        return self if end is None else self.bounded(minutes=max(0.01, (end - time.time()) / 60))


@dataclass(frozen=True, kw_only=True)
class Reading(Recipe):
    """A training on plain text. `passes` says how often an epoch reads the lines of `train.NAME.txt`, once by default.

    With probability `join` a line is appended to the one before it, so that long texts are met too.
    """

    passes: Mapping[str, int] = field(default_factory=dict)
    join: float = 0.0
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe(Reading):
    """A masked language model: `units: subwords` goes on from the encoder `start`, `units: bytes` starts from nothing.

    `share` of the units is to be guessed: single subwords, or whole words of bytes. In `accents` of the texts of bytes
    some letters are disguised (`babelquake.train.mlm`).
    """

    units: str = "subwords"
    start: str = ""
    share: float = 0.15
    accents: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units not in ("subwords", "bytes"):
            raise UserError(f"config '{self.name}': units is '{self.units}', expected subwords or bytes.")
        if (self.units == "subwords") != bool(self.start):
            raise UserError(
                f"config '{self.name}': 'start' names the encoder whose subwords are kept; bytes have none."
            )


@dataclass(frozen=True, kw_only=True)
class CausalRecipe(Reading):
    """A causal language model of GPT-2's architecture over byte-level BPE, from scratch."""

    vocabulary: int = 16384


@dataclass(frozen=True, kw_only=True)
class MetricRecipe(Recipe):
    """A cross-encoder (reference, translation) → score that goes on from the encoder `start`.

    `within` weighs the error in differences between translations of one sentence against the error in scores.
    """

    start: str
    within: float = 1.0
    pooling: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling not in ("first", "mean"):
            raise UserError(f"config '{self.name}': pooling is '{self.pooling}', expected first or mean.")

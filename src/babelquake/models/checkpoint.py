"""Where a model's files lie, and one hash of what is in them.

A name is that of a model that ships, a folder (or a `.gguf` file), or a name on the Hugging Face hub; tried in this
order. The hash is of the files that are read – weights, vocabulary, configuration – so that a signature is the same for
the hub's copy and for a folder elsewhere, and is known without loading weights.

Published checkpoints of metrics (BLEURT, TransQuest, MetricX, and the sentence encoders inside COMET and
SiameseTransQuest) are all made from the same options. Their weights are read without running anything they contain: a
`.ckpt` or `.bin` file is a pickle, and a pickle can name any function to be called on loading. `torch.load` with
`weights_only` calls none but the few that rebuild tensors. Trainers leave bookkeeping beside the weights – callbacks,
hyper-parameters – whose classes are not installed here: those of `INERT` packages become empty shells; anything else is
refused by name.
"""

import hashlib
import pickle
import re
import warnings
import zipfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from babelquake.errors import UserError
from babelquake.limits import reading
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.loading import Precision, device_of, enough_memory, installed, offline
from babelquake.models.shipped import shipped
from babelquake.paths import install_line
from babelquake.resource import Limits
from babelquake.spec import signature
from babelquake.warnings_log import count_warning

DESCRIPTIONS = ("*.json", "*.txt", "*.model", "*.yaml")
"""Configuration and vocabulary."""
WEIGHTS = ("*.safetensors", "*.bin", "*.ckpt", "*.gguf", "*.npz")
"""By preference: where there are safetensors, nothing else is read."""
TRANSPORTS = ("httpx", "httpcore", "requests", "urllib3", "huggingface_hub")
"""Packages – httpx2 among them – whose errors mean that the hub did not answer."""
IGNORED = ("card.json", "training_args.bin", "README.txt")
BLOB = re.compile(r"[0-9a-f]{64}")
"""The name of a large file in the hub's local store: its SHA-256."""


@dataclass(frozen=True)
class Checkpoint:
    """A model's files."""

    name: str
    """As tables and signatures show it: without the folders of this machine."""
    folder: Path
    file: str | None = None
    """The one file that holds everything, for formats that do so."""

    @property
    def content(self) -> str:
        """A short hash of everything that is read."""
        state = hashlib.sha256()
        for path in [self.folder / self.file] if self.file else files(self.folder):
            state.update(path.relative_to(self.folder).as_posix().encode() + b"\0" + _digest(path).encode())
        return state.hexdigest()[:12]


def checkpoint(name: str, instead: str = "") -> Checkpoint:
    """The files of a model; `instead` is a line that works without a hub, for the error where none can be reached."""
    ships = shipped()
    if name in ships:
        return Checkpoint(name, ships[name])
    path = Path(name).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return Checkpoint(path.stem, path.parent.resolve(), path.name)
    if path.is_dir():
        return Checkpoint(path.resolve().name, path.resolve())
    if path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise UserError(f"there is no folder {name}: expected a model's folder, a hub name or a model that ships.")
    return Checkpoint(name, _from_hub(name, instead))


def files(folder: Path) -> list[Path]:
    """The files of a folder that are read, in the order of their names."""
    found = {path for pattern in DESCRIPTIONS for path in folder.rglob(pattern)}
    for pattern in WEIGHTS:
        if weights := {path for path in folder.rglob(pattern) if path.name not in IGNORED}:
            found |= weights
            break
    return sorted(path for path in found if path.is_file() and path.name not in IGNORED)


def _from_hub(name: str, instead: str) -> Path:
    """The hub's files on this machine, fetched where they are not there and a hub may be asked."""
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
    except ImportError:
        raise UserError(f"model '{name}' needs an extra: run {install_line('neural')}.") from None
    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):
        pass
    hint = f" Works without a network: {instead}." if instead else ""
    hint += " Models that ship are listed by babelquake list models."
    if offline():
        raise UserError(f"model '{name}' is not on this machine and cannot be downloaded (offline).{hint}")
    try:
        names = [item.rfilename for item in HfApi().model_info(name).siblings or []]
        kinds = {Path(item).suffix for item in names}
        weights = next((pattern for pattern in WEIGHTS if pattern.removeprefix("*") in kinds), WEIGHTS[0])
        return Path(snapshot_download(name, allow_patterns=[*DESCRIPTIONS, weights]))
    except RepositoryNotFoundError:
        raise UserError(f"no folder, no model that ships and no model on the hub is called '{name}'.{hint}") from None
    except (OSError, ValueError, HfHubHTTPError) as problem:
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise UserError(
            f"model '{name}' is not on this machine and the hub cannot be reached ({first}).{hint}"
        ) from None
    except Exception as problem:  # the hub's client raises its transport's own errors
        if not type(problem).__module__.startswith(TRANSPORTS):
            raise
        raise UserError(
            f"model '{name}' is not on this machine and the hub cannot be reached ({type(problem).__name__}).{hint}"
        ) from None


def _digest(path: Path) -> str:
    target = path.resolve()
    if BLOB.fullmatch(target.name):
        return target.name
    state = target.stat()
    return _read(target, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _read(path: Path, size: int, changed: int) -> str:
    """SHA-256 of a file; read again only when its size or time of change says so."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


INERT = ("pytorch_lightning.", "lightning.", "lightning_fabric.", "argparse.Namespace", "kiwi.")
"""Where bookkeeping comes from that a checkpoint may name; it is read as data and never called."""
INSTEAD = "bertscore[model=minilm-en]"
"""A neural scorer that needs no hub."""


def published(name: str, files: Sequence[str], scorer: str, owner: str = "") -> Checkpoint:
    """A checkpoint with the files of its kind, alternatives joined by `|`; a bare name is completed by its `owner`."""
    bare = "/" not in name and not Path(name).expanduser().is_dir() and name not in shipped()
    found = checkpoint(f"{owner}/{name}" if bare and owner else name, f"{scorer}[model=FOLDER], or {INSTEAD}")
    for wanted in files:
        if not any((found.folder / choice).is_file() for choice in wanted.split("|")):
            raise UserError(
                f"{scorer}[model={name}] is not a checkpoint of that kind: {wanted.replace('|', ' or ')} is missing."
            )
    return found


def library_versions(scorer: str) -> str:
    """Versions of torch and transformers for a signature, or how to install them."""
    what = f"scorer '{scorer}'"
    return f"torch-{installed('torch', what)},transformers-{installed('transformers', what)}"


def state(path: Path) -> dict[str, Any]:
    """What a `.ckpt`, `.bin`, `.torch` or `.safetensors` file holds; whatever could run code is refused."""
    import torch

    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        with reading(path, "safetensors"):
            return dict(load_file(path))
    try:
        packed = zipfile.is_zipfile(path)
        foreign = torch.serialization.get_unsafe_globals_in_checkpoint(path) if packed else []
        dangerous = sorted(name for name in foreign if not name.startswith(INERT))
        if dangerous:
            raise UserError(
                f"{path} is refused: it is more than weights and would call {', '.join(dangerous[:3])} on loading."
            )
        shells: list[Any] = [(_Shell, name) for name in foreign]
        with torch.serialization.safe_globals(shells), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what torch thinks of an odd pickle is said below
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=packed or None)
    except pickle.UnpicklingError:
        raise UserError(
            f"{path} is refused: it cannot be read as plain weights. It contains more than numbers, such as code that "
            "would run on loading, or is cut off. Expected what torch.save writes."
        ) from None
    except (EOFError, RuntimeError, ValueError, AttributeError) as problem:
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise UserError(
            f"{path} is refused: it cannot be read as plain weights ({reason}). Expected what torch.save writes."
        ) from problem
    if not isinstance(found, dict):
        raise UserError(f"{path} has no weights by name: expected a checkpoint.")
    return found


class _Shell(dict[Any, Any]):
    """Stands for a class of a trainer's bookkeeping: holds what it is given and does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


class Network(Protocol):
    """What a checkpoint holds."""

    cut: list[str]
    """Texts that were longer than it reads."""


class SentenceNetwork(Network, Protocol):
    """A network with one vector per text."""

    def sentence_vectors(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""


N = TypeVar("N", bound=Network)
S = TypeVar("S", bound=SentenceNetwork)


class Published(Generic[N]):
    """A checkpoint; what it is made of, its kind says."""

    metric: ClassVar[str]
    """The scorer that it belongs to."""
    owner: ClassVar[str]
    """Who publishes such checkpoints on the hub."""
    files: ClassVar[tuple[str, ...]]

    limits = Limits(texts=512)
    """Enough texts at once to find some that can be read together."""

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto") -> None:
        self.checkpoint: Checkpoint = published(model, self.files, self.metric, self.owner)
        self.precision: Precision = precision
        self._device = device

    @abstractmethod
    def load(self, device: str) -> N:
        """The network with its weights."""

    @cached_property
    def network(self) -> N:
        """The weights, loaded when first needed."""
        library_versions(self.metric)
        with enough_memory(self.checkpoint.name):
            return self.load(device_of(self._device))

    @contextmanager
    def noting(self) -> Iterator[N]:
        """The network at work; says how many texts it cut."""
        self.network.cut.clear()
        yield self.network
        said = f"texts cut to the length that {self.checkpoint.name} can read"
        count_warning(said, dict.fromkeys(self.network.cut))

    def signed(self, *names: str, **options: object) -> str:
        """The signature: checkpoint with content, what is special to its kind, precision and libraries."""
        return signature(
            *names,
            self.checkpoint.name,
            content=self.checkpoint.content,
            **options,
            precision=self.precision,
            libraries=library_versions(self.metric),
        )

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)


class PublishedEncoder(Published[S], SentenceEncoder, Generic[S]):
    """The encoder of a checkpoint."""

    @cached_property
    def signature(self) -> str:
        return self.signed()

    def sentences(self, texts: Sequence[str]) -> Matrix:
        with self.noting() as network:
            return network.sentence_vectors(texts)

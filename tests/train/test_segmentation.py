"""Facts about segmentation, checked against SentencePiece itself."""

from itertools import pairwise
from math import exp
from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.train.corpus import Ragged, read_pairs, split_file
from babelquake.train.segmentation import Fixed, MergeDropout, UnigramSampling, processor, segmentation, vocabulary

SENTENCES = ["eins zwei drei", "siebenundzwanzig ﬁx", "日本 zehn日zehn", "neun\u00a0und neunzig", "ZWEI!? tausend"]


@pytest.fixture(scope="module")
def bpe(toy_data: Path, toy_cache: Path) -> Path:
    return vocabulary("bpe", 110, toy_data, toy_cache)


@pytest.fixture(scope="module")
def unigram(toy_data: Path, toy_cache: Path) -> Path:
    return vocabulary("unigram", 50, toy_data, toy_cache)


def rows(ragged: Ragged) -> list[list[int]]:
    return [ragged.values[a:b].tolist() for a, b in pairwise(ragged.bounds)]


def corpus(toy_data: Path) -> list[str]:
    return SENTENCES + [source for source, _ in read_pairs(split_file(toy_data, "train"))]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_words_one_by_one_segment_as_the_whole_sentence_does_at_inference(kind, bpe, unigram, toy_data):
    model = {"bpe": bpe, "unigram": unigram}[kind]
    for sentence in corpus(toy_data):
        words = sentence.split()
        joined = Fixed(model, words).segment(np.arange(len(words)), np.random.default_rng(0))
        assert joined.values.tolist() == processor(model).encode(sentence)


def test_merge_dropout_at_zero_is_sentencepieces_bpe(bpe, toy_data):
    words = sorted({word for sentence in corpus(toy_data) for word in sentence.split()})
    made = MergeDropout(bpe, words, 0.0).segment(np.arange(len(words)), np.random.default_rng(0))
    assert rows(made) == processor(bpe).encode(words)


def test_merge_dropout_at_one_leaves_characters(bpe):
    made = MergeDropout(bpe, ["hundert"], 1.0).segment(np.array([0]), np.random.default_rng(0))
    assert processor(bpe).id_to_piece(made.values.tolist()) == list("▁hundert")


@pytest.mark.parametrize("kind", ["dropout", "unigram"])
def test_every_sampled_segmentation_spells_the_word(kind, bpe, unigram):
    words, order = ["hundertdrei", "siebenzehn", "dreivier"], np.arange(300) % 3
    table = MergeDropout(bpe, words, 0.3) if kind == "dropout" else UnigramSampling(unigram, words, 0.02)
    pieces = processor(bpe if kind == "dropout" else unigram)
    made = rows(table.segment(order, np.random.default_rng(1)))
    assert [pieces.decode(row) for row in made] == [words[word] for word in order]
    assert len({tuple(row) for row in made}) > 3
    assert made == rows(table.segment(order, np.random.default_rng(1)))


def test_unigram_segmentations_come_with_probability_p_to_the_alpha(unigram):
    """Against SentencePiece's own list of all segmentations and their scores."""
    pieces, alpha, draws = processor(unigram), 0.5, 20000
    known = {piece: i for i, piece in enumerate(pieces.id_to_piece(list(range(pieces.get_piece_size()))))}
    word = "▁vier"

    def ways(text):
        if not text:
            yield ()
        for end in range(1, len(text) + 1):
            if text[:end] in known:
                yield from ((known[text[:end]], *rest) for rest in ways(text[end:]))

    weight = {way: exp(alpha * sum(pieces.get_score(i) for i in way)) for way in ways(word)}
    made = rows(UnigramSampling(unigram, ["vier"], alpha).segment(np.zeros(draws, int), np.random.default_rng(2)))
    for way, value in weight.items():
        expected = value / sum(weight.values())
        observed = sum(tuple(row) == way for row in made) / draws
        assert abs(observed - expected) < 5 * (expected * (1 - expected) / draws) ** 0.5 + 1e-9


def test_strong_alpha_gives_the_best_segmentation(unigram):
    words = ["hundert", "sieben"]
    made = UnigramSampling(unigram, words, 100.0).segment(np.arange(2), np.random.default_rng(0))
    assert rows(made) == processor(unigram).encode(words)


def test_names_and_options():
    assert segmentation("bpe").dropout == 0
    assert segmentation("bpe-dropout[p=0.2]").dropout == 0.2
    assert segmentation("sentencepiece").alpha == 0.5
    with pytest.raises(UserError, match="bpe-dropout"):
        segmentation("bpe-droput")
    with pytest.raises(UserError, match="outside 0 to 1"):
        segmentation("bpe-dropout[p=2]")

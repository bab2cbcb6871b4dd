"""Facts about packed batches."""

from itertools import islice

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.perturb.noise import Noise
from babelquake.perturb.suite import suite
from babelquake.train.config import bundled, load
from babelquake.train.corpus import Ragged, read_corpus, split_file
from babelquake.train.data import NoisySources, Pairs, pack, segmented, stream, unpack
from babelquake.train.segmentation import BEGIN, END, Fixed, MergeDropout, processor, vocabulary

CONFIG = load({"name": "toy", "steps": 1, "source_length": 40, "target_length": 32, "batch_tokens": 160})


def test_packing_keeps_every_pair_together_and_loses_only_those_too_long():
    rng = np.random.default_rng(0)
    source = [rng.integers(3, 90, rng.integers(1, 50)).tolist() for _ in range(200)]
    target = [rng.integers(3, 90, rng.integers(1, 40)).tolist() for _ in range(200)]
    fields = unpack(pack(Ragged.of(source), Ragged.of(target), CONFIG), CONFIG)
    found = []
    for row in range(len(fields.source)):
        for number in range(1, fields.source_pair[row].max() + 1):
            here, there = fields.source_pair[row] == number, fields.target_pair[row] == number
            tokens, output = fields.source[row][here].tolist(), fields.target_output[row][there].tolist()
            assert tokens[-1] == output[-1] == END
            assert fields.target_input[row][there].tolist() == [BEGIN, *output[:-1]]
            assert fields.source_position[row][here].tolist() == list(range(len(tokens)))
            found.append((tokens[:-1], output[:-1]))
    expected = [(s, t) for s, t in zip(source, target, strict=True) if len(s) < 40 and len(t) < 32]
    assert sorted(found) == sorted(expected)


def test_workers_and_resuming_change_nothing(toy_data, toy_cache):
    corpus = read_corpus(split_file(toy_data, "train"), toy_cache)
    model = vocabulary("bpe", 110, toy_data, toy_cache)
    pairs = Pairs(
        corpus.source.sentences,
        corpus.target.sentences,
        MergeDropout(model, corpus.source.words, 0.1),
        Fixed(model, corpus.target.words),
    )

    def batches(workers, count, **place):
        config = load(CONFIG.to_dict(), workers=workers)
        return [(a, b, batch.tolist()) for a, b, batch in islice(stream(pairs, config, **place), count)]

    alone = batches(0, 60)
    chunk, number, _ = alone[40]
    assert chunk > 0, "the test should reach a second epoch"
    assert batches(2, 60) == alone
    assert batches(2, 20, chunk=chunk, batch=number) == alone[40:]


def test_bundled_configs_differ_only_in_segmentation_and_in_steps_of_equal_time():
    configs = [load(path).to_dict() for name, path in bundled("nmt").items() if name != "de-en-bpe-noise"]
    assert len(configs) == 3
    for config in configs:
        del config["name"], config["segmentation"], config["steps"]
        assert config == configs[0]


def test_a_wrong_setting_is_named():
    with pytest.raises(UserError, match="learning_rate"):
        load({"name": "toy", "steps": 1, "learning_rat": 1})
    with pytest.raises(UserError, match="either steps or minutes"):
        load({"name": "toy"})


def test_noise_changes_a_share_of_the_sources_anew_in_every_epoch(toy_data, toy_cache):
    corpus = read_corpus(split_file(toy_data, "train"), toy_cache)
    model = vocabulary("bpe", 110, toy_data, toy_cache)
    segmenter, pieces = Fixed(model, corpus.source.words), processor(model)
    noisy = NoisySources(Noise(suite("case[level=1,to=upper],final-delete"), share=0.5), corpus.source.words, pieces)
    rows = np.arange(len(corpus.source.sentences))
    clean = segmented(corpus.source.sentences, segmenter, np.random.default_rng(0))
    first, again, second = (noisy.mixed(corpus.source.sentences, clean, epoch, rows) for epoch in (0, 0, 1))
    assert first.values.tolist() == again.values.tolist()

    def changed(made):
        parts = [np.split(ragged.values, ragged.bounds[1:-1]) for ragged in (clean, made)]
        return [place for place, (old, new) in enumerate(zip(*parts, strict=True)) if old.tolist() != new.tolist()]

    assert changed(first) != changed(second)
    assert 0.3 < len(changed(first)) / len(rows) < 0.7


def test_ragged_rows_can_be_replaced():
    rows = Ragged.of([[1, 2], [], [3]])
    made = rows.replaced({1: [7, 8, 9], 2: []})
    assert (made.values.tolist(), made.bounds.tolist()) == ([1, 2, 7, 8, 9], [0, 2, 5, 5])
    assert rows.replaced({}) is rows

"""Facts about packed batches."""

from itertools import islice

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.train.config import bundled, load
from babelquake.train.corpus import Ragged, read_corpus, split_file
from babelquake.train.data import Pairs, pack, stream, unpack
from babelquake.train.segmentation import Fixed, MergeDropout
from babelquake.train.vocabulary import BEGIN, END, vocabulary

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
    configs = [load(path).to_dict() for path in bundled("nmt").values()]
    assert len(configs) == 3
    for config in configs:
        del config["name"], config["segmentation"], config["steps"]
        assert config == configs[0]


def test_a_wrong_setting_is_named():
    with pytest.raises(UserError, match="learning_rate"):
        load({"name": "toy", "steps": 1, "learning_rat": 1})
    with pytest.raises(UserError, match="either steps or minutes"):
        load({"name": "toy"})

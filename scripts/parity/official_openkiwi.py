"""OpenKiwi's scores of a small predictor–estimator: its own modules, from a checkout of Unbabel/OpenKiwi.

The package wants libraries that no longer install; the modules of its network need none of them but torch. The names
they import from elsewhere are stood in for here: pydantic's first interface, and torchnlp, of which nothing is called.
"""

import sys
import types
from pathlib import Path

import torch
from checkpoints import weights
from checkpoints_other import KIWI, keep_openkiwi, kiwi_words
from golden import keep
from judged_segments import segments


def stand_in(repository: Path) -> None:
    """Let `kiwi.*` be imported module by module, without the package's own start-up."""
    import pydantic.v1

    sys.modules["pydantic"] = pydantic.v1
    for name in ("torchnlp", "torchnlp.utils", "torchnlp.encoders", "torchnlp.encoders.text"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torchnlp"].utils = sys.modules["torchnlp.utils"]
    sys.modules["torchnlp.encoders.text"].BatchedSequences = object
    sys.modules["torchnlp.encoders.text"].stack_and_pad_tensors = None
    kiwi = repository / "kiwi"
    for name in ("kiwi", "kiwi.modules", "kiwi.modules.common", "kiwi.systems", "kiwi.systems.encoders"):
        package = types.ModuleType(name)
        package.__path__ = [str(kiwi.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    for name in ("kiwi.systems.decoders", "kiwi.data", "kiwi.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(kiwi.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    sys.modules["kiwi"].__version__ = "2.1.0"


def main(folder: Path, repository: Path) -> None:
    """Build the network with OpenKiwi's classes, give it drawn weights, save it in its format, and score."""
    stand_in(repository)
    from kiwi.data.batch import BatchedSentence
    from kiwi.modules.sentence_level_output import SentenceScoreRegression
    from kiwi.systems.decoders.estimator import EstimatorDecoder
    from kiwi.systems.encoders.predictor import PredictorEncoder

    class Vocabulary:
        """What the encoder asks of a vocabulary."""

        vectors, pad_id = None, 1

        def __init__(self, listed: list[str]) -> None:
            self.itos = listed

        def __len__(self) -> int:
            return len(self.itos)

    vocabularies = {side: Vocabulary(kiwi_words(side)) for side in ("source", "target")}
    embeddings = {side: {"dim": KIWI[f"{side}_width"]} for side in vocabularies}
    predictor = {
        "hidden_size": KIWI["predictor_width"],
        "rnn_layers": KIWI["predictor_layers"],
        "embeddings": embeddings,
    }
    predictor["out_embeddings_dim"] = KIWI["output_width"]
    encoder = PredictorEncoder(vocabularies, PredictorEncoder.Config(**predictor))
    decoder = EstimatorDecoder(encoder.size(), EstimatorDecoder.Config(hidden_size=KIWI["estimator_width"]))
    output = SentenceScoreRegression(decoder.size("target_sentence"), num_layers=3)
    for part in (encoder, decoder, output):
        part.load_state_dict(weights(part))
        part.eval()
    keep_openkiwi(
        folder / "openkiwi",
        {side: vocabulary.itos for side, vocabulary in vocabularies.items()},
        *(part.state_dict() for part in (encoder, decoder, output)),
    )
    found = []
    for row in segments():
        batch = {}
        for side, text in (("source", row.source), ("target", row.translation)):
            numbers = {word: at for at, word in enumerate(vocabularies[side].itos)}
            ids = [2, *(numbers.get(word, 0) for word in text.split()), 3]
            seen = torch.ones(1, len(ids), dtype=torch.bool)
            seen[0, 0] = seen[0, -1] = False
            whole = torch.arange(len(ids))[None]
            length = torch.tensor([len(ids)])
            batch[side] = BatchedSentence(torch.tensor([ids]), length, whole, length, seen, length - 2)
        with torch.no_grad():
            features = decoder(encoder(batch), batch)
            found.append(float(output(features["target_sentence"], batch)))
    keep("openkiwi", "the modules of Unbabel/OpenKiwi 2.1.0", {"predictor-estimator": found})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""transquest's scores of the small TransQuest checkpoints: run by `make parity` in an environment of its own."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from checkpoints_other import TRANSQUEST, transquest
from golden import keep
from judged_segments import segments
from transformers import XLMRobertaTokenizerFast
from transquest.algo.sentence_level.monotransquest import run_model
from transquest.algo.sentence_level.siamesetransquest.run_model import SiameseTransQuestModel


def main(folder: Path) -> None:
    """Source first, translation second."""
    pairs = [[row.source, row.translation] for row in segments()]
    mono, siamese = (str(transquest(name, folder / name)) for name in TRANSQUEST)
    os.chdir(folder)
    run_model.XLMRobertaTokenizer = XLMRobertaTokenizerFast  # the small checkpoint has tokenizer.json alone
    scores = {
        "monotransquest": run_model.MonoTransQuestModel("xlmroberta", mono, num_labels=1, use_cuda=False).predict(
            pairs
        )[0],
        "siamesetransquest": SiameseTransQuestModel(siamese).predict(pairs, verbose=False),
    }
    keep("transquest", f"transquest {version('transquest')}", scores)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Golden values of BERTScore: the official package on the MiniLM weights, at every layer, with and without idf.

One pair at a time: in a batch, bert-score lets padding (cosine 0) match, so that a text whose best cosine is negative
gets a score that depends on its company.

Run by `make parity`, which puts the official package into an environment of its own:
    python scripts/parity/official_bertscore.py MODEL_FOLDER OUT.npz
"""

import sys
from pathlib import Path

import numpy as np
from judged_segments import segments


def main(model: str, out: str) -> None:
    """Score all segments and store precision, recall and F per layer."""
    import torch
    from bert_score import score

    torch.set_num_threads(1)
    _with_empty_texts()
    rows = segments()
    translations, references = [row.translation for row in rows], [row.reference for row in rows]
    values = {}
    for idf in (False, True):
        for layer in range(7):
            found = score(
                translations,
                references,
                model_type=model,
                num_layers=layer,
                idf=idf,
                device="cpu",
                batch_size=1,
                nthreads=1,
            )
            values[f"{'idf' if idf else 'plain'}-{layer}"] = np.stack([part.numpy() for part in found])
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, **values)


def _with_empty_texts() -> None:
    """bert-score asks the tokenizer for the special tokens alone by a method that transformers 5 no longer has."""
    from transformers import PreTrainedTokenizerBase

    def alone(self: PreTrainedTokenizerBase, ids: list[int]) -> list[int]:
        return [self.cls_token_id, *ids, self.sep_token_id]

    PreTrainedTokenizerBase.build_inputs_with_special_tokens = alone


if __name__ == "__main__":
    main(*sys.argv[1:])

"""bleurt-pytorch's scores of the small BLEURT checkpoints: run by `make parity` in an environment of its own.

The port leaves long pairs to its user; they are cut here token by token, as the TensorFlow code does.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import torch
from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
from checkpoints_other import BLEURT, bleurt, longest
from golden import keep
from judged_segments import segments


def main(folder: Path) -> None:
    """One pair at a time, reference first."""
    scores = {}
    for name in BLEURT:
        made = bleurt(name, folder / name)
        model, report = BleurtForSequenceClassification.from_pretrained(made, output_loading_info=True)
        if report["missing_keys"] or report["unexpected_keys"]:
            raise SystemExit(f"{name}: {report}")
        tokenizer = BleurtTokenizer.from_pretrained(made)
        found = []
        for row in segments():
            first, second = (
                tokenizer.encode(text, add_special_tokens=False) for text in (row.reference, row.translation)
            )
            while len(first) + len(second) > longest() - 3:
                (first if len(first) > len(second) else second).pop()
            begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
            ids = [begin, *first, end, *second, end]
            types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
            with torch.no_grad():
                logits = model.eval()(torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits
            found.append(float(logits))
        scores[name] = found
    keep("bleurt", f"bleurt-pytorch {version('bleurt-pytorch')}", scores)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""unbabel-comet's scores of the small COMET checkpoints: run by `make parity` in an environment of its own."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from checkpoints_comet import COMET, comet
from comet import load_from_checkpoint
from golden import keep
from judged_segments import segments


def main(folder: Path) -> None:
    """Make each checkpoint, load it strictly – every weight in its place – and predict."""
    rows = segments()
    scores, spans = {}, {}
    for name, given in COMET.items():
        made = comet(name, folder.resolve() / name)
        _as_the_vocabulary_of_minilm(made / "encoder")
        model = load_from_checkpoint(str(made / "checkpoints" / "model.ckpt"), strict=True)
        readings = {name: ("src", "mt", "ref")}
        if given["class_identifier"] == "xcomet_metric":
            readings[f"{name}-qe"] = ("src", "mt")
        for reading, columns in readings.items():
            samples = [{"src": row.source, "mt": row.translation, "ref": row.reference} for row in rows]
            samples = [{column: sample[column] for column in columns} for sample in samples]
            found = model.predict(samples, batch_size=16, gpus=0, num_workers=0, progress_bar=False)
            scores[reading] = found.scores
            if "metadata" in found and "error_spans" in found.metadata:
                spans[reading] = [
                    [[s["start"], s["end"], s["severity"], round(s["confidence"], 6), s["text"]] for s in row]
                    for row in found.metadata.error_spans
                ]
    keep("comet", f"unbabel-comet {version('unbabel-comet')}", scores, spans=spans)


def _as_the_vocabulary_of_minilm(encoder: Path) -> None:
    """unbabel-comet reads MiniLM's texts by the name `xlm-roberta-base`: here it finds a folder of that name."""
    link = encoder.parent / "xlm-roberta-base"
    link.unlink(missing_ok=True)
    link.symlink_to(encoder)
    os.chdir(encoder.parent)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

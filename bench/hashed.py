"""Sentences a second that vectors-multi encodes and pairs that qe-multi rates, on one core; see bench/results."""

import json
import os
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from babelquake.data import read
from babelquake.models.hashed_vectors import HashedVectors
from babelquake.scorers.qe_multi import HashedQuality


def main() -> None:
    segments = read("sample").segments
    sources = segments["source"].to_list()
    translations = [some[0] for some in segments["references"].to_list()]
    vectors, quality = HashedVectors(), HashedQuality()
    vectors.sentences(sources)
    quality.rate(sources[:8], translations[:8])
    began = time.process_time()
    for _ in range(20):
        for start in range(0, len(sources), 256):
            vectors.sentences(sources[start : start + 256])
    encoded = 20 * len(sources) / (time.process_time() - began)
    began = time.process_time()
    quality.rate(sources, translations)
    rated = len(sources) / (time.process_time() - began)
    characters = sum(map(len, sources)) / len(sources)
    result = {"vectors_per_second": round(encoded), "ratings_per_second": round(rated), "characters": round(characters)}
    print(result)
    (Path(__file__).parent / "results" / "hashed.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

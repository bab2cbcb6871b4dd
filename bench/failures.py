"""How many translations a second the detectors of failures judge, on one core.

    python bench/failures.py FILE.tsv en-cs     # columns source, translation, such as a system's output

The first pass looks at the sources too; the second shows what every further system costs.
"""

import sys
import time
from pathlib import Path

from babelquake.failures import Pair, cards_for, failures_in
from babelquake.failures.base import Cost
from babelquake.languages import LanguagePair

COSTS: tuple[Cost, ...] = ("free", "identifier")


def main(file: str, languages: str) -> None:
    """Print texts a second for the free detectors and for language identification."""
    pair = LanguagePair(languages)
    lines = Path(file).read_text("utf-8").splitlines()[1:]
    texts = [(columns[0], columns[1]) for line in lines if len(columns := line.split("\t")) > 1]
    print(f"{len(texts)} translations of {sum(len(text) for _, text in texts) / len(texts):.0f} characters")
    for cost in COSTS:
        cards = cards_for(pair.source, pair.target, costs=(cost,))
        failures_in(Pair("warm", "up", pair.source, pair.target), cards)
        for name in ("first system", "further systems"):
            start = time.process_time()
            for source, translation in texts:
                failures_in(Pair(source, translation, pair.source, pair.target), cards)
            print(f"{cost}, {name}: {len(texts) / (time.process_time() - start):,.0f} a second")


if __name__ == "__main__":
    main(*sys.argv[1:])

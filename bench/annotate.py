"""Load on the rating app: fifty annotators at once over loopback, server on the same machine.

    python bench/annotate.py [--people 50] [--seconds 60]

Every annotator looks at an item, waits a little as no person would, and sends an answer. Written to
bench/results/annotate.json: requests, errors, and the 50th, 95th and 99th percentile of the time to answer.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.annotate.conftest import answer, tuple_rows
from tests.annotate.serving import Server

from babelquake.annotate.people import add_annotator
from babelquake.annotate.prepare import Recipe, prepare

RESULTS = Path(__file__).parent / "results" / "annotate.json"
PAUSE = 0.5
"""Seconds an annotator thinks: a hundred and twenty judgements a minute, far more than anybody makes."""


def main() -> None:
    """Run the load and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.people, options.seconds)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


def measure(folder: Path, people: int, seconds: float) -> dict[str, object]:
    """The times of all requests of all people."""
    rows = tuple_rows(140)
    (folder / "t.tsv").write_text("\n".join(["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]) + "\n")
    project = prepare(folder / "t.tsv", folder / "p.db", recipe=Recipe(annotators=people))
    tokens = [add_annotator(project, f"p{number}") for number in range(people)]
    server = Server(project.path)
    server.start()
    times: list[tuple[str, float]] = []
    errors: list[str] = []
    end = time.monotonic() + seconds
    try:
        threads = [threading.Thread(target=work, args=(server.url, token, end, times, errors)) for token in tokens]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        server.stop()
    kept = project.database.execute("SELECT count(*) FROM ratings").fetchone()[0]
    confirmed = sum(kind == "rate" for kind, _ in times)
    return {
        "people": people,
        "seconds": seconds,
        "cores": os.cpu_count(),
        "load_before_1min": round(os.getloadavg()[0], 1),
        "requests": len(times),
        "ratings_confirmed": confirmed,
        "ratings_stored": kept,
        "errors": len(errors),
        "first_errors": errors[:3],
        "milliseconds": {kind: percentiles([t for k, t in times if k == kind]) for kind in ("look", "rate")},
        "milliseconds_all": percentiles([t for _, t in times]),
    }


def work(url: str, token: str, end: float, times: list[tuple[str, float]], errors: list[str]) -> None:
    """One annotator, until the time is over or there is nothing left to rate."""
    with httpx.Client(base_url=url, timeout=30) as client:
        client.cookies.set("annotator", token)
        while time.monotonic() < end:
            try:
                began = time.perf_counter()
                page = client.get("/task")
                times.append(("look", time.perf_counter() - began))
                if page.status_code != 200:
                    errors.append(f"look: {page.status_code}")
                    continue
                if "Thank you" in page.text:
                    return
                time.sleep(PAUSE)
                began = time.perf_counter()
                sent = client.post("/task", data=answer(page.text, 40, 60))
                times.append(("rate", time.perf_counter() - began))
                if sent.status_code != 303:
                    errors.append(f"rate: {sent.status_code}")
            except httpx.HTTPError as error:
                errors.append(repr(error))


def percentiles(seconds: list[float]) -> dict[str, float]:
    """In milliseconds."""
    return {f"p{at}": round(1000 * float(np.percentile(seconds, at)), 1) for at in (50, 95, 99)} if seconds else {}


if __name__ == "__main__":
    main()

"""Train several models side by side on one GPU within a fixed time.

One such model leaves a large GPU idle between its small kernels; three at once fill it. Each is its own process, so
that one's failure does not end the others. What is worth keeping, `NAME.npz` (weights packed as int8) and `NAME.json`
(history and config), is copied to `--keep` whenever it changed, so that little is lost if the machine goes away.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from babelquake.train.config import bundled
from babelquake.train.corpus import read_corpus, split_file

MARGIN_SECONDS = 15
"""Time kept for the last validation and for writing the results."""
KEEP_SECONDS = 30


def run(names: Sequence[str], data: Path, cache: Path, work: Path, keep: Path, minutes: float, seed: int) -> int:
    """Train the named configs for `minutes` in all, preparation included; the number that failed."""
    until = time.time() + 60 * minutes - MARGIN_SECONDS
    keep.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    read_corpus(split_file(data, "train"), cache)
    workers = max(1, (os.cpu_count() or 2) // len(names) - 1)
    processes = {}
    with (keep / f"log-seed{seed}.txt").open("a", encoding="utf-8") as log:
        for name in names:
            command = [sys.executable, "-u", "-m", "babelquake.train", "nmt", "--config", name]
            command += ["--data", str(data), "--cache", str(cache), "--out", str(work / _label(name, seed))]
            command += ["--seed", str(seed), "--workers", str(workers), "--until", str(until)]
            environment = os.environ | {"OMP_NUM_THREADS": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
            )
            if process.stdout:
                threading.Thread(target=_echo, args=(process.stdout, log), daemon=True).start()
            processes[name] = process
        while any(process.poll() is None for process in processes.values()):
            time.sleep(min(KEEP_SECONDS, max(0.5, until - time.time())))
            _keep(names, seed, work, keep)
        _keep(names, seed, work, keep)
        time.sleep(1)
    for name, process in processes.items():
        print(f"[{name}] ended with status {process.returncode}", flush=True)
    return sum(process.returncode != 0 for process in processes.values())


def _label(name: str, seed: int) -> str:
    return f"{Path(name).stem}-seed{seed}"


def _echo(stream: IO[str], log: IO[str]) -> None:
    for line in stream:
        print(line, end="", flush=True)
        log.write(line)
        log.flush()


def _keep(names: Sequence[str], seed: int, work: Path, keep: Path) -> None:
    for name in names:
        for made, kept in (("weights.npz", ".npz"), ("history.json", ".json")):
            source, target = work / _label(name, seed) / made, keep / f"{_label(name, seed)}{kept}"
            if source.is_file() and (not target.is_file() or source.stat().st_mtime > target.stat().st_mtime):
                partial = work / f"{target.name}.partial"
                shutil.copyfile(source, partial)
                shutil.move(partial, target)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m babelquake.train.side_by_side", description=run.__doc__)
    parser.add_argument("--config", action="append", help="bundled config or file; all bundled ones by default")
    for name in ("data", "cache", "work", "keep"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    names = options.config or list(bundled("nmt"))
    sys.exit(run(names, options.data, options.cache, options.work, options.keep, options.minutes, options.seed))


if __name__ == "__main__":
    main()

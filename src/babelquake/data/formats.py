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


FORMATS: dict[str, Format] = {
    card.name: card
    for card in (
        Format(
            "sample",
            "the bundled sample: 300 German–English pairs; sample:rated has 100 × 3 rated translations",
            "the names sample and sample:rated",
            lambda what: what in SAMPLES or what.startswith("sample:"),
            read_sample,
        ),
        Format(
            "sacrebleu",
            "a test set by sacreBLEU's name for it, downloaded on first use",
            "a name such as sacrebleu:wmt22/de-en",
            lambda what: what.startswith(SACREBLEU),
            read_sacrebleu,
        ),
        Format(
            "parallel",
            "plain text files that belong together line by line",
            "a name such as parallel[source=a.de,reference=a.en]",
            lambda what: what.startswith(PARALLEL + "["),
            read_parallel,
        ),
        Format(
            "wmt-outputs",
            "system outputs of a WMT general task and its test suites (txt, txt-ts)",
            "FOLDER:LANGUAGE-PAIR or FOLDER:LANGUAGE-PAIR/SUITE of a folder with sources/ and system-outputs/",
            is_wmt_outputs,
            read_wmt_outputs,
        ),
        Format(
            "rocs-mt",
            "RoCS-MT: comments as written and normalised, systems' outputs, annotated phenomena",
            "FOLDER:LANGUAGE-PAIR of a folder with src/RoCS-MT.src.concat.en",
            is_rocs_mt,
            read_rocs_mt,
        ),
        Format(
            "mt-metrics-eval",
            "WMT metrics-task folder with sources, references, system outputs, human and metric scores",
            "a folder with sources/ and system-outputs/, or FOLDER/LANGUAGE-PAIR",
            is_metrics_eval,
            read_metrics_eval,
        ),
        Format(
            "darr",
            "human better/worse judgements of two translations (WMT DARR)",
            "a folder with sources.txt and darr.tsv or darr.tsv.gz",
            is_darr,
            read_darr,
        ),
        Format(
            "metrics-task",
            "a WMT metrics task's package: judgements as published, with system outputs and references",
            "a folder with manual-evaluation/RR-seglevel.csv or DA-seglevel.csv, or FOLDER/LANGUAGE-PAIR",
            is_metrics_task,
            read_metrics_task,
        ),
        Format(
            "mt-run",
            "the translations of a finished mt run, each sample of --repeats as a separate system",
            "a folder with run.json, segments.parquet and translations.parquet",
            is_mt_run,
            read_mt_run,
        ),
        Format(
            "mtnt",
            "noisy sentences of social media with translations (Michel and Neubig 2018)",
            "a TSV file such as test.en-fr.tsv or en-fr.final.tsv, without header",
            is_mtnt,
            read_mtnt,
        ),
        Format(
            "mlqe-pe",
            "direct assessments of the WMT quality-estimation task (not CSV-quoted)",
            "a TSV file with columns original, translation, mean and z_scores",
            is_mlqe,
            read_mlqe,
        ),
        Format(
            "demetr",
            "DEMETR's translations with one error each (Karpinska et al. 2022)",
            "a JSON file with src_sent and pert_sent, or a folder of them",
            is_demetr,
            read_demetr,
        ),
        Format(
            "aces",
            "translations beside incorrect ones, by phenomenon (ACES, Amrhein et al. 2022)",
            "a TSV file with good-translation, incorrect-translation and phenomena, or a folder with one",
            is_aces,
            read_aces,
        ),
        Format(
            "challenge-set",
            "a challenge set of the WMT evaluation task, as submitted or as returned with metrics' scores",
            "a folder with NAME.PAIR.src.txt and NAME.PAIR.hyp-1.txt, or FOLDER:LANGUAGE-PAIR",
            is_challenge_set,
            read_challenge_set,
        ),
        Format(
            "wmt-jsonl",
            "a WMT general task as JSON lines: references, translations and ratings by system",
            "the ending .jsonl, and doc_id and src_text, or langs, line_id and esa_score, in its first line; or a "
            "folder with one such file",
            is_wmt_jsonl,
            read_wmt_jsonl,
        ),
        Format("tmx", "a translation memory (TMX)", "the ending .tmx", _ends(".tmx"), read_tmx),
        Format(
            "xliff",
            "XLIFF 1.2 or 2: sources, with targets as references",
            "the ending .xlf, .xliff, .sdlxliff or .mxliff",
            _ends(".xlf", ".xliff", ".sdlxliff", ".mxliff"),
            read_xliff,
        ),
        Format(
            "wmt-xml",
            "a WMT test set with sources, references by translator and translations by system",
            "the ending .xml, and <dataset in it",
            lambda what: _ends(".xml")(what) and is_wmt_xml(what),
            read_wmt_xml,
        ),
        Format(
            "sgm",
            "one side of an older WMT test set; give both as --source a.src.sgm --reference a.ref.sgm",
            "the ending .sgm or .sgml",
            _ends(".sgm", ".sgml"),
            read_sgm,
        ),
        Format(
            "xlsx", "the first sheet of a workbook", "the ending .xlsx or .xlsm", _ends(".xlsx", ".xlsm"), read_xlsx
        ),
        Format(
            "tsv",
            "columns between tabs, not quoted",
            "the ending .tsv or .tab (.gz, .xz, .bz2)",
            _ends(".tsv", ".tab"),
            read_tsv,
        ),
        Format(
            "appraise",
            "ratings and marked errors as Appraise exports them, without texts",
            "the ending .csv, and Appraise's columns",
            is_rated,
            read_rated,
        ),
        Format(
            "csv",
            "columns between commas, quoted as in RFC 4180",
            "the ending .csv (.gz, .xz, .bz2)",
            _ends(".csv"),
            read_csv,
        ),
        Format(
            "jsonl",
            "one JSON object a line",
            "the ending .jsonl or .ndjson (.gz, .xz, .bz2)",
            _ends(".jsonl", ".ndjson"),
            read_jsonl,
        ),
        Format("json", "a JSON list of objects", "the ending .json (.gz, .xz, .bz2)", _ends(".json"), read_json),
        Format("parquet", "an Apache Parquet table", "the ending .parquet", _ends(".parquet"), read_parquet),
        Format(
            "text",
            "plain text: one source sentence a line; also what standard input (-) is taken for",
            "any other file",
            lambda what: what == STDIN or not existing(what).is_dir(),
            read_text,
        ),
    )
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

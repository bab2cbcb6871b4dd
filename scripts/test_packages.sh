#!/usr/bin/env bash
# Installs the Debian packages some tests use where that is possible; otherwise says which tests will be skipped.
set -u
declare -A uses=(
  [chromium]="browser tests of the report and the rating app"
  [wordnet-base]="the test that rebuilds the WordNet tables"
  [espeak-ng]="the check that phonetic respelling keeps the pronunciation"
  [apertium-eng-spa]="the Apertium system"
)
missing=()
for package in "${!uses[@]}"; do
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq >/dev/null 2>&1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1
fi
for package in "${missing[@]}"; do
  dpkg -s "$package" >/dev/null 2>&1 || echo "not installed: $package – skipped: ${uses[$package]}"
done
exit 0

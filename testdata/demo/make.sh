#!/usr/bin/env bash
# Measures every version of module/ again and writes runs/. A version is
# module/ with the files of versions/02 … versions/NN laid over it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

go run ./synth
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp module/* "$work"
for run in runs/*/; do
  version=$(basename "$run")
  if [ -d "versions/$version" ]; then cp "versions/$version"/* "$work"; fi
  mkdir -p "$run/bench"
  status=0
  (cd "$work" && go test -run '^$' -bench . -benchmem -count 6 -benchtime 60ms) >"$run/bench/textkit.txt" || status=$?
  tail -n 1 "$run/bench/textkit.txt"
  [ "$status" = 0 ] || [ "$version" = 05 ] # 05 is broken on purpose
done

#!/usr/bin/env bash
# Writes requirements/*.txt anew from requirements/*.in: newest versions, all hashes, no addresses.
# Needs uv (pip install uv). Without arguments it keeps the versions that still fit; --upgrade takes newer.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../requirements"
for name in runtime build dev; do
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-header "$@" "$name.in" --output-file "$name.txt"
done

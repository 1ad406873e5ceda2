#!/bin/bash
# Runs tests in Python that need nothing but python3.
set -euo pipefail
for test in "$@"; do
  python3 "$test"
done

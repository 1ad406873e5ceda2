#!/bin/bash
# Runs benchmark_table_test.py, which needs nothing but python3.
set -euo pipefail
exec python3 "$1"

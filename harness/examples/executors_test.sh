#!/bin/bash
# Runs executors_test.py with a Python that has torch: $TORCH_PYTHON, or else python3.
#
#   executors_test.sh EXECUTORS_TEST_PY HARNESS
set -euo pipefail
exec "${TORCH_PYTHON:-python3}" "$1" "$2"

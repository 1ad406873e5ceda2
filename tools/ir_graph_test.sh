#!/bin/bash
# Runs ir_graph_test.py with a Python that has torch: $TORCH_PYTHON, or else python3.
set -euo pipefail
exec "${TORCH_PYTHON:-python3}" "$1"

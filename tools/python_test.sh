#!/bin/bash
# Runs a test in Python, with its arguments; see script.bzl.
set -euo pipefail
exec "${TORCH_PYTHON:-python3}" "$@"

#!/bin/bash
# Runs a proof of this folder with the LibTorch of the build:
#
#   proof_test.sh ROOT_TXT cache_proof.sh|execution_proof.sh [TARGET]...
#
# Targets come by --test_arg.
set -euo pipefail

folder="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
LIBTORCH="$(cat "$1")"
export LIBTORCH
# The variables of a test would make the inner Bazel think that it runs as one.
exec env -u TEST_TMPDIR -u RUNFILES_DIR -u TEST_SRCDIR -u XML_OUTPUT_FILE "$folder/$2" "${@:3}"

#!/bin/bash
# Runs index_test.mjs on pages of the given program: sh_test needs a shell script.
set -euo pipefail
exec node harness/report/index_test.mjs "$@"

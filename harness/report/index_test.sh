#!/bin/bash
# Runs graph_test.mjs, and index_test.mjs on pages of the given program: sh_test needs a shell script.
set -euo pipefail
node --test harness/report/graph_test.mjs
exec node harness/report/index_test.mjs "$@"

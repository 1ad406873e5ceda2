#!/bin/bash
# Runs mermaid_test.mjs over the pages given: sh_test needs a shell script.
set -euo pipefail
exec node harness/report/mermaid_test.mjs "$@"

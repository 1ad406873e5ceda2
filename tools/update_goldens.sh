#!/bin/bash
# Writes all golden files of the workspace in which it is called, each by its `.update` target:
#
#     tools/bazel run @torch_ir//tools:update_goldens
#
# Arguments are startup options of Bazel.
set -euo pipefail

bazel="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/bazel"
cd "$BUILD_WORKSPACE_DIRECTORY"
targets="$("$bazel" "$@" query --noshow_progress 'filter("\.update$", kind(cc_binary, //...))')"
if [[ -z $targets ]]; then
  echo "update_goldens: no test of this workspace has golden files" >&2
  exit 1
fi
for target in $targets; do
  "$bazel" "$@" run "$target"
done

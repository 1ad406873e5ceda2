#!/bin/bash
# Proves that a remote cache spares other machines the work:
#
#   tools/remote/cache_proof.sh [TARGET]...
#
# What was built and tested in this checkout is asked for again in a clone in another folder, with
# its own output base and LibTorch under another path. At least 95 % of its actions, tests among
# them, have to come from the cache, and the outputs of the tests have to be the same bytes. What is
# not committed is in neither.
#
# With REMOTE_CACHE in the environment, that cache is used, and taken to be filled by a
# `tools/bazel test --remote_cache=$REMOTE_CACHE` of the same commit, whose bazel-testlogs are
# TESTLOGS (those of this checkout). Without, one is started and filled first, which builds
# everything. FLAGS are more flags for Bazel.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
checkout="$(cd "$here/../.." && pwd)"
[[ $# -gt 0 ]] || set -- //...

work="$(mktemp -d)"
# Of the servers, the last one first; Bazel leaves read-only folders.
clean_up() {
  [[ ! -e $work/second ]] || (cd "$work/clone" && bazel second shutdown) || true
  [[ ! -e $work/first ]] || (cd "$work/source" && bazel first shutdown) || true
  [[ ! -e $work/cache ]] || "$here/serve.sh" "$work/cache" --stop
  chmod -R u+w "$work" || true
  rm -rf "$work" || true
}
trap clean_up EXIT

# bazel BASE COMMAND ARGUMENT...: with an output base of that name.
bazel() {
  tools/bazel --output_user_root="$work/root" --output_base="$work/$1" "${@:2}"
}

# A disk cache of the user would answer in place of the remote one.
test_targets() {
  local base="$1"
  shift
  # shellcheck disable=SC2086
  bazel "$base" test ${FLAGS:-} --remote_cache="$REMOTE_CACHE" --disk_cache= \
    --symlink_prefix="$work/$base-" --color=no --curses=no --show_progress_rate_limit=60 \
    --test_summary=terse "$@"
}

# The caller's, if there is one, or else what Bazel has found or installed.
libtorch_of() {
  echo "${LIBTORCH:-$(cat "$1/external/libtorch/root.txt")}"
}

cd "$checkout"
if [[ -z ${REMOTE_CACHE:-} ]]; then
  "$here/serve.sh" "$work/cache"
  REMOTE_CACHE="$(cat "$work/cache/url")"
  git clone -q "$checkout" "$work/source"
  cd "$work/source"
  test_targets first "$@"
  first_logs="$(readlink -f "$work/first-testlogs")"
  libtorch="$(libtorch_of "$work/first")"
else
  first_logs="$(readlink -f "${TESTLOGS:-bazel-testlogs}")"
  # bazel-testlogs is OUTPUT_BASE/execroot/WORKSPACE/bazel-out/CONFIGURATION/testlogs.
  libtorch="$(libtorch_of "${first_logs%/execroot/*}")"
fi

# With the libraries that a wheel may have beside it.
mkdir -p "$work/elsewhere/torch"
ln -s "$libtorch"/* "$work/elsewhere/torch"
for folder in torch.libs nvidia; do
  [[ ! -e $libtorch/../$folder ]] || ln -s "$libtorch/../$folder" "$work/elsewhere"
done
git clone -q "$checkout" "$work/clone"
cd "$work/clone"
LIBTORCH="$work/elsewhere/torch" test_targets second --build_event_json_file="$work/events.json" "$@"

python3 "$here/judge.py" cache "$work/events.json" "$first_logs" "$(readlink -f "$work/second-testlogs")"

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
# `tools/bazel test --remote_cache=$REMOTE_CACHE` in this checkout. Without, one is started and
# filled first, which builds everything. FLAGS are more flags for Bazel.
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

# bazel NAME COMMAND ARGUMENT...: with the output base NAME, or the usual one for "".
bazel() {
  local base="$1"
  shift
  tools/bazel ${base:+--output_base="$work/$base"} "$@"
}

# A disk cache of the user would answer in place of the remote one.
test_targets() {
  local base="$1"
  shift
  # shellcheck disable=SC2086
  bazel "$base" test ${FLAGS:-} --remote_cache="$REMOTE_CACHE" --disk_cache= \
    --symlink_prefix="$work/$base-" "$@"
}

cd "$checkout"
first=
if [[ -z ${REMOTE_CACHE:-} ]]; then
  first=first
  "$here/serve.sh" "$work/cache"
  REMOTE_CACHE="$(cat "$work/cache/url")"
  git clone -q "$checkout" "$work/source"
  cd "$work/source"
  test_targets first "$@"
fi
first_logs="$(bazel "$first" info bazel-testlogs 2>/dev/null)"
libtorch="$(cat "$(bazel "$first" info output_base 2>/dev/null)/external/libtorch/root.txt")"

mkdir "$work/libtorch"
ln -s "$libtorch"/* "$work/libtorch"
git clone -q "$checkout" "$work/clone"
cd "$work/clone"
LIBTORCH="$work/libtorch" test_targets second --execution_log_json_file="$work/log.json" "$@"
second_logs="$(LIBTORCH="$work/libtorch" bazel second info bazel-testlogs 2>/dev/null)"

python3 "$here/compare_runs.py" "$work/log.json" "$first_logs" "$second_logs"

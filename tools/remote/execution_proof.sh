#!/bin/bash
# Proves that actions need only what they declare:
#
#   tools/remote/execution_proof.sh [TARGET]...
#
# A clone of this checkout is built and tested by a worker (see worker.py) that sees, beside the
# declared inputs of an action, nothing but this machine's compilers and system libraries: neither
# the checkout nor LibTorch nor anybody's home. Nothing runs outside of the worker. What is not
# committed is not in it. Needs root and PostgreSQL, see serve.sh.
#
# With REMOTE_EXECUTOR in the environment, that service is used. What its cache has is not compiled
# again then, but each test runs. FLAGS are more flags for Bazel.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
checkout="$(cd "$here/../.." && pwd)"
[[ $# -gt 0 ]] || set -- //harness/...

work="$(mktemp -d)"
chmod 711 "$work"
bazel() {
  tools/bazel --output_user_root="$work/root" --output_base="$work/base" "$@"
}

# Bazel leaves read-only folders.
clean_up() {
  [[ ! -e $work/base ]] || (cd "$work/clone" && bazel shutdown) || true
  [[ ! -e $work/service ]] || "$here/serve.sh" "$work/service" --stop
  chmod -R u+w "$work" || true
  rm -rf "$work" || true
}
trap clean_up EXIT

if [[ -z ${REMOTE_EXECUTOR:-} ]]; then
  "$here/serve.sh" "$work/service" --execution
  REMOTE_EXECUTOR="$(cat "$work/service/url")"
fi
git clone -q "$checkout" "$work/clone"
cd "$work/clone"
# Bazel only waits. The server refuses more requests than one connection has.
# shellcheck disable=SC2086
bazel test --jobs=8 ${FLAGS:-} --remote_executor="$REMOTE_EXECUTOR" --remote_max_connections=1 \
  --spawn_strategy=remote --remote_timeout=3600 --disk_cache= --nocache_test_results --keep_going \
  --symlink_prefix="$work/base-" --color=no --curses=no --show_progress_rate_limit=60 \
  --test_summary=terse --build_event_json_file="$work/events.json" "$@"

python3 "$here/judge.py" execution "$work/events.json"

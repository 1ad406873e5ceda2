#!/bin/bash
# Proves that actions need only what they declare:
#
#   tools/remote/execution_proof.sh [TARGET]...
#
# A clone of this checkout is built and tested by a worker (see worker.py) that sees, beside the
# declared inputs of an action, nothing but this machine's compilers and system libraries: neither
# the checkout nor LibTorch nor anybody's home. Nothing runs outside of the worker. What is not
# committed is not in it. FLAGS are more flags for Bazel. Needs root and PostgreSQL, see serve.sh.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
checkout="$(cd "$here/../.." && pwd)"
[[ $# -gt 0 ]] || set -- //harness/...

work="$(mktemp -d)"
chmod 711 "$work"
clean_up() {
  [[ ! -e $work/base ]] || (cd "$work/clone" && tools/bazel --output_base="$work/base" shutdown) || true
  [[ ! -e $work/service ]] || "$here/serve.sh" "$work/service" --stop
  # Bazel leaves read-only folders.
  chmod -R u+w "$work" || true
  rm -rf "$work" || true
}
trap clean_up EXIT

"$here/serve.sh" "$work/service" --execution
git clone -q "$checkout" "$work/clone"
cd "$work/clone"
# The server refuses more requests than one connection has.
# shellcheck disable=SC2086
tools/bazel --output_base="$work/base" test ${FLAGS:-} --disk_cache= \
  --remote_executor="$(cat "$work/service/url")" --remote_default_exec_properties=OSFamily=linux \
  --remote_max_connections=1 --spawn_strategy=remote --remote_timeout=3600 \
  --symlink_prefix="$work/" "$@"

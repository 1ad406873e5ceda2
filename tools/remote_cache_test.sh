#!/bin/bash
# Tests a remote cache, BuildGrid, with two clones of this commit in different folders: the second one
# compiles nothing and runs no test.
#
#   remote_cache_test.sh LIBTORCH_ROOT
#
# $BUILDGRID is its program bgd: pip install buildgrid==0.4.4. It listens on the local host only.
set -euo pipefail

checkout="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
LIBTORCH="$(cat "$1")"
export LIBTORCH
work="$TEST_TMPDIR"
# What it builds and tests: a room that is quick to compile, with LibTorch and system libraries.
target=//src/torch_ir/base:base_test

fail() {
  echo "remote_cache_test: $*" >&2
  exit 1
}

# bazel CLONE ARGUMENT...: without the variables of a test, as the inner Bazel would think that it runs
# in one.
bazel() {
  (cd "$work/$1" && env -u TEST_TMPDIR -u RUNFILES_DIR -u TEST_SRCDIR -u XML_OUTPUT_FILE \
    tools/bazel --output_user_root="$work/user_root" --output_base="$work/base_of_${1##*/}" "${@:2}")
}

server=
clean_up() {
  [[ -z $server ]] || kill "$server"
  local clone
  for clone in first elsewhere/second; do
    [[ ! -e $work/$clone ]] || bazel "$clone" shutdown >/dev/null 2>&1 || true
  done
  chmod -R u+w "$work"
}
trap clean_up EXIT

port="$(python3 -c 'import socket
with socket.socket() as free:
    free.bind(("localhost", 0))
    print(free.getsockname()[1])')"
cat >"$work/buildgrid.yml" <<END
server:
  - !channel
    address: localhost:$port
    insecure-mode: true
instances:
  - name: ''
    storages:
      - !disk-storage &storage
        path: $work/storage
    caches:
      - !lru-action-cache &cache
        storage: *storage
        max-cached-refs: 100000
        allow-updates: true
    services:
      - !action-cache
        cache: *cache
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
END
mkdir "$work/storage"
"${BUILDGRID:-bgd}" server start "$work/buildgrid.yml" >"$work/server.log" 2>&1 &
server=$!
python3 - "$port" <<'END' || fail "BuildGrid does not answer: $(cat "$work/server.log")"
import socket, sys, time
for _ in range(300):
    try:
        socket.create_connection(("localhost", int(sys.argv[1]))).close()
        sys.exit()
    except OSError:
        time.sleep(0.1)
sys.exit(1)
END

test_clone() {
  git clone --quiet "$checkout" "$work/$1"
  bazel "$1" test --color=no --curses=no --jobs=2 --remote_cache="grpc://localhost:$port" \
    "$target" >"$work/said" 2>&1 || fail "the test fails in $1:"$'\n'"$(cat "$work/said")"
  bazel "$1" shutdown
  grep '^INFO: .* processes:' "$work/said"
}

test_clone first
grep -qE '^INFO: [0-9]+ processes: .*(sandbox|local)' "$work/said" || fail "the first clone built nothing"
test_clone elsewhere/second
grep -qE '^INFO: [0-9]+ processes: [0-9]+ remote cache hit, [0-9]+ internal\.$' "$work/said" ||
  fail "the second clone built something"
grep -qE "^$target +\(cached\) PASSED" "$work/said" || fail "the second clone ran the test"

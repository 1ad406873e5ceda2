#!/bin/bash
# Starts a remote cache on this machine, and keeps it until it is stopped:
#
#   tools/remote/serve.sh FOLDER
#
# FOLDER/url then holds what to give to --remote_cache, FOLDER/pid the process to stop. The server
# is buildgrid's; where `bgd` is not on the PATH, pip installs it into FOLDER.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$1"
folder="$(cd "$1" && pwd)"

fail() {
  echo "serve.sh: $*" >&2
  exit 2
}

bgd="$(command -v bgd || true)"
if [[ -z $bgd ]]; then
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check buildgrid==0.4.4 ||
    fail "pip cannot install buildgrid"
  bgd="$folder/python/bin/bgd"
fi

port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
sed -e "s|@PORT@|$port|" -e "s|@FOLDER@|$folder|" "$here/cache.yml.in" >"$folder/cache.yml"
"$bgd" server start "$folder/cache.yml" >"$folder/log" 2>&1 </dev/null &
pid=$!

# It listens when it is ready.
for ((i = 0; i < 600; i++)); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "$pid" >"$folder/pid"
    echo "grpc://127.0.0.1:$port" >"$folder/url"
    exit 0
  fi
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
kill "$pid" 2>/dev/null || true
fail "the server does not answer: $(tail -n 1 "$folder/log")"

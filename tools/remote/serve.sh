#!/bin/bash
# Starts a remote cache on this machine, or a whole remote execution service, and leaves it running:
#
#   tools/remote/serve.sh FOLDER [--execution]
#   tools/remote/serve.sh FOLDER --stop
#
# FOLDER/url then holds what to give to --remote_cache or --remote_executor. The server is
# buildgrid's; where there is no $BUILDGRID_PYTHON that has it, pip installs it into FOLDER.
# --execution starts worker.py, too, and needs PostgreSQL, for the queue, and root, for the worker.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
mode="${2:-}"

# PostgreSQL refuses to run as root.
as_nobody() {
  setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

stop() {
  local name
  # Each leads a process group; the worker's has the actions that it runs.
  for name in worker server; do
    [[ ! -e $folder/$name.pid ]] || kill -- "-$(cat "$folder/$name.pid")" 2>/dev/null || true
    rm -f "$folder/$name.pid"
  done
  [[ ! -e $folder/postgres/postmaster.pid ]] ||
    as_nobody "$(postgres_folder)/pg_ctl" stop -s -m immediate -D "$folder/postgres"
}

fail() {
  echo "serve.sh: $*" >&2
  stop
  exit 2
}

postgres_folder() {
  local folders=(/usr/lib/postgresql/*/bin)
  if [[ -x ${folders[-1]}/initdb ]]; then echo "${folders[-1]}"; else dirname "$(command -v initdb)"; fi
}

start_postgres() {
  local programs
  programs="$(postgres_folder)" || fail "there is no PostgreSQL: apt install postgresql"
  install -d -o 65534 -g 65534 -m 700 "$folder/postgres"
  (
    cd /
    as_nobody "$programs/initdb" --username=worker --auth=trust -D "$folder/postgres"
    as_nobody "$programs/pg_ctl" start -w -l "$folder/postgres/log" -D "$folder/postgres" \
      -o "-c listen_addresses='' -c unix_socket_directories='$folder/postgres' -c fsync=off"
  ) >"$folder/postgres.log" 2>&1 || fail "PostgreSQL does not start, see $folder/postgres.log"
}

# Waits until somebody listens, for as long as the process that should runs.
wait_for() {
  local port="$1" pid="$2" i
  for ((i = 0; i < 600; i++)); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

if [[ $mode == --stop ]]; then
  stop
  exit
fi

python="${BUILDGRID_PYTHON:-python3}"
if [[ -z ${BUILDGRID_PYTHON:-} ]]; then
  export PYTHONPATH="$folder/python"
  if [[ ! -e $PYTHONPATH ]]; then
    rm -rf "$PYTHONPATH.new"
    python3 -m pip install --quiet --disable-pip-version-check --target "$PYTHONPATH.new" \
      buildgrid==0.4.4 psycopg2-binary==2.9.13 >"$folder/pip.log" 2>&1 ||
      fail "pip cannot install buildgrid, see $folder/pip.log"
    mv "$PYTHONPATH.new" "$PYTHONPATH"
  fi
fi
bgd=("$python" -c "from buildgrid.server.app import cli; cli(prog_name=\"bgd\")")

config=cache.yml
if [[ $mode == --execution ]]; then
  config=execution.yml
  # The database is nobody's, and its socket below this folder.
  chmod 711 "$folder"
  as_nobody test -x "$folder" || fail "nobody may not enter $folder, in which PostgreSQL runs as nobody"
  start_postgres
  "${bgd[@]}" migrate apply \
    "postgresql+psycopg2:///postgres?host=$folder/postgres&user=worker" >"$folder/migrate.log" 2>&1 ||
    fail "the database can not be set up, see $folder/migrate.log"
fi

port="$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
sed -e "s|@PORT@|$port|" -e "s|@FOLDER@|$folder|" "$here/$config.in" >"$folder/$config"
setsid "${bgd[@]}" server start "$folder/$config" >"$folder/server.log" 2>&1 </dev/null &
echo $! >"$folder/server.pid"
wait_for "$port" $! || fail "the server does not answer: $(tail -n 1 "$folder/server.log")"

if [[ $mode == --execution ]]; then
  setsid "$python" "$here/worker.py" "127.0.0.1:$port" "$folder/worker" \
    >"$folder/worker.log" 2>&1 </dev/null &
  echo $! >"$folder/worker.pid"
fi
echo "grpc://127.0.0.1:$port" >"$folder/url"

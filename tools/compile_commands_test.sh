#!/bin/bash
# Tests compile_commands.py in a repository of two sources, and compiles them with its commands.
#
#   compile_commands_test.sh PROGRAM LIBTORCH_ROOT_TXT OPTION...
set -euo pipefail

program="$PWD/$1" root="$PWD/$2"
export BUILD_WORKSPACE_DIRECTORY="$TEST_TMPDIR/workspace"

fail() {
  echo "compile_commands_test: $*" >&2
  exit 1
}

mkdir -p "$BUILD_WORKSPACE_DIRECTORY/src/room"
cd "$BUILD_WORKSPACE_DIRECTORY"
git init -q
echo ignored.cc >.gitignore
echo '#include <c10/macros/Macros.h>' >src/room/room.h
echo '#include "room/room.h"' >src/room/b.cc
echo '#include "src/room/room.h"' >a.cc
touch ignored.cc
git add a.cc

"$program" "$root" "${@:3}"
cp compile_commands.json first.json
"$program" "$root" "${@:3}" >/dev/null
cmp compile_commands.json first.json || fail "a second run writes other bytes"
mapfile -t commands < <(python3 -c '
import json, shlex
for entry in json.load(open("compile_commands.json")):
    print(entry["file"], shlex.join(entry["arguments"]))')
[[ ${#commands[@]} == 2 ]] || fail "not one entry for each source that git knows: ${commands[*]}"
[[ ${commands[0]} == a.cc\ * && ${commands[1]} == src/room/b.cc\ * ]] || fail "${commands[*]}"
for command in "${commands[@]}"; do
  [[ $command == *" -Wall "* ]] || fail "without the project's options: $command"
  bash -c "${command#* } -fsyntax-only" || fail "not compiled: $command"
done

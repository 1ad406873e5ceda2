#!/bin/bash
# The public headers are exactly torch_ir.h, the backend.h of the harness, and the headers that they
# include, directly or not.
#
#   public_headers_test.sh HEADER...
set -euo pipefail

fail() {
  echo "public_headers_test: $*" >&2
  exit 1
}

file_of() {
  if [[ $1 == torch_ir/* ]]; then echo "src/$1"; else echo "$1"; fi
}

declare -A is_public=()
for header in "$@"; do is_public[${header#src/}]=1; done

queue=(torch_ir/torch_ir.h harness/backend/backend.h)
declare -A is_reached=([${queue[0]}]=1 [${queue[1]}]=1)
for ((i = 0; i < ${#queue[@]}; i++)); do
  [[ -n ${is_public[${queue[i]}]:-} ]] ||
    fail "${queue[i]} is included by a public header: add it to PUBLIC_HEADERS"
  while read -r header; do
    [[ -z ${is_reached[$header]:-} ]] || continue
    is_reached[$header]=1
    queue+=("$header")
  done < <(sed -nE 's/^ *# *include *"([^"]+)".*/\1/p' "$(file_of "${queue[i]}")")
done

for header in "${!is_public[@]}"; do
  [[ -n ${is_reached[$header]:-} ]] ||
    fail "$header is in PUBLIC_HEADERS, and neither torch_ir.h nor backend.h leads to it"
done

#!/bin/bash
# The public headers are exactly torch_ir.h and the headers that it includes, directly or not.
#
#   public_headers_test.sh HEADER...
set -euo pipefail

fail() {
  echo "public_headers_test: $*" >&2
  exit 1
}

declare -A is_public=()
for header in "$@"; do is_public[${header#src/}]=1; done

queue=(torch_ir/torch_ir.h)
declare -A is_reached=([${queue[0]}]=1)
for ((i = 0; i < ${#queue[@]}; i++)); do
  [[ -n ${is_public[${queue[i]}]:-} ]] ||
    fail "${queue[i]} is included by torch_ir.h or what it includes: add it to PUBLIC_HEADERS"
  while read -r header; do
    [[ -z ${is_reached[$header]:-} ]] || continue
    is_reached[$header]=1
    queue+=("$header")
  done < <(sed -nE 's/^ *# *include *"([^"]+)".*/\1/p' "src/${queue[i]}")
done

for header in "${!is_public[@]}"; do
  [[ -n ${is_reached[$header]:-} ]] ||
    fail "$header is in PUBLIC_HEADERS, and torch_ir.h does not lead to it"
done

#!/bin/bash
# Installs the LibTorch of a wheel, once for all workspaces and environments, and prints its folder.
#
#   libtorch_from_pip.sh PYTHON REQUIREMENT
#
# It keeps only the CPU half of a CUDA build: libtorch_cpu.so links two of CUDA's libraries, which are
# put beside it, and does not need the large ones.
set -euo pipefail

home="${XDG_CACHE_HOME:-$HOME/.cache}/torch-ir/${2/==/-}-$(uname -m)"
pip=("$1" -m pip install --quiet --disable-pip-version-check --target)

if [[ ! -d $home ]]; then
  mkdir -p "${home%/*}"
  # Into a temporary folder first: what has the final name is complete.
  new="$(mktemp -d "$home.XXXXXX")"
  trap 'rm -rf "$new"' EXIT
  "${pip[@]}" "$new" --no-deps "$2" >&2

  # Up to 2.11 the wheel names CUDA's packages one by one, later all of them as one with extras.
  mapfile -t cuda < <(sed -nE 's/^Requires-Dist: (nvidia-cuda-(runtime|cupti)-.*)/\1/p
    s/^Requires-Dist: cuda-toolkit\[[^]]*\]/cuda-toolkit[cudart,cupti]/p' "$new"/*.dist-info/METADATA)
  if [[ ${#cuda[@]} -gt 0 ]]; then
    rm -f "$new"/torch/lib/lib{torch_cuda,c10_cuda,torch_nvshmem,caffe2_nvrtc}*
    "${pip[@]}" "$new/cuda" "${cuda[@]}" >&2
    find "$new/cuda" \( -name 'libcudart.so.*' -o -name 'libcupti.so.*' \) \
      -exec mv -t "$new/torch/lib" {} +
    rm -r "$new/cuda"
  fi
  # mktemp's folder is its owner's alone.
  chmod 755 "$new"
  # Another process may have been faster.
  mv -T "$new" "$home" || [[ -d $home ]]
fi
echo "$home/torch"

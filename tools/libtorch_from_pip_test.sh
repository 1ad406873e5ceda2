#!/bin/bash
# Tests what libtorch_from_pip.sh requests from pip, and which files of wheels like PyPI's it keeps.
#
#   libtorch_from_pip_test.sh LIBTORCH_FROM_PIP
set -euo pipefail

from_pip="$PWD/$1"
export XDG_CACHE_HOME="$TEST_TMPDIR/cache" LOG="$TEST_TMPDIR/log"

fail() {
  echo "libtorch_from_pip_test: $*" >&2
  exit 1
}

# The Python of two environments.
cat >"$TEST_TMPDIR/first" <<'END'
#!/bin/bash
while [[ $1 != --target ]]; do shift; done
target="$2"
shift 2
printf '%s\n' "$@" >>"$LOG"
if [[ $1 != --no-deps ]]; then
  mkdir -p "$target/nvidia/cu/lib"
  touch "$target"/nvidia/cu/lib/lib{cudart.so.13,cupti.so.13,nvperf_host.so}
  exit
fi
mkdir -p "$target"/torch/lib "$target/torch.dist-info"
touch "$target"/torch/lib/lib{torch_cpu,c10}.so
[[ $2 == *2.13.0 ]] || touch "$target"/torch/lib/lib{torch_cuda,torch_cuda_linalg,c10_cuda}.so
case "$2" in
  *2.8.0)
    echo 'Requires-Dist: nvidia-cuda-nvrtc-cu12==12.8.93; platform_system == "Linux"'
    echo 'Requires-Dist: nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux"'
    echo 'Requires-Dist: nvidia-cuda-cupti-cu12==12.8.90; platform_system == "Linux"'
    ;;
  *2.13.0) echo 'Requires-Dist: filelock' ;;
  *2.15.0)
    echo 'Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.2.2; platform_system == "Linux"'
    echo 'Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == "Linux"'
    ;;
  *) exit 1 ;;
esac >"$target/torch.dist-info/METADATA"
END
chmod +x "$TEST_TMPDIR/first"
cp "$TEST_TMPDIR/first" "$TEST_TMPDIR/second"

# expect VERSION LIBRARIES [REQUIREMENT...]: whatever environment asks, pip installs once.
expect() {
  local version="$1" libraries="$2" root environment
  rm -f "$LOG"
  for environment in first second; do
    root="$("$from_pip" "$TEST_TMPDIR/$environment" "torch==$version")"
  done
  [[ $(cd "$root/lib" && echo *) == "$libraries" ]] || fail "$version has $(ls "$root/lib")"
  [[ $(cat "$LOG") == "$(printf '%s\n' --no-deps "torch==$version" "${@:3}")" ]] ||
    fail "for $version pip installs: $(cat "$LOG")"
}

cuda_libraries="libc10.so libcudart.so.13 libcupti.so.13 libtorch_cpu.so"
expect 2.13.0 "libc10.so libtorch_cpu.so"
expect 2.8.0 "$cuda_libraries" \
  'nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux"' \
  'nvidia-cuda-cupti-cu12==12.8.90; platform_system == "Linux"'
expect 2.15.0 "$cuda_libraries" \
  'cuda-toolkit[cudart,cupti]==13.2.2; platform_system == "Linux"'

# A pip that fails leaves nothing behind.
"$from_pip" "$TEST_TMPDIR/first" torch==9.0 && fail "there is no 9.0"
[[ $(cd "$XDG_CACHE_HOME/torch-ir" && echo *) != *9.0* ]] || fail "something unfinished is left"

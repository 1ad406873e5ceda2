#!/bin/bash
# Installs torch-ir below a prefix; `bazel run //:install` runs it. See --help.
#
# It assembles and tries everything in a hidden folder of the prefix, and then moves it into place, so
# that an error before that leaves the prefix unchanged.
set -euo pipefail

usage='Usage: bazel run //:install -- --prefix DIR [--copy-libtorch]
       bazel run //:install -- --prefix DIR --uninstall

Installs the programs torch-ir and harness, the libraries libtorch_ir.so and libtorch_ir_harness.so
with their headers and CMake package, and Python scripts in DIR/share/torch_ir (export_model.py, score_suite.py, examples). The
programs and libraries find LibTorch through DIR/lib/torch_ir/libtorch: a link to the LibTorch that
they were built with, or a copy (about 500 MB) if the build itself installed it with pip, in a cache.
If a linked LibTorch moves, change the link.

  --prefix DIR      install into DIR, relative to the current directory
  --copy-libtorch   always copy LibTorch, so that DIR is self-contained
  --uninstall       remove the installed files

If DESTDIR is set in the environment, everything goes below $DESTDIR/DIR, as packagers expect.'

# Relative to the prefix: the list of installed files, one path per line, and LibTorch.
list=lib/torch_ir/installed.txt
libtorch_link=lib/torch_ir/libtorch

fail() {
  echo "install: $*" >&2
  exit 2
}

# Runs a command, and turns its error into one line.
attempt() {
  local what="$1" complaint
  shift
  complaint="$("$@" 2>&1)" || fail "$what: $(head -n 1 <<<"$complaint")"
}

take_arguments() {
  prefix= uninstall= copy_libtorch=
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --prefix=*) prefix="${1#*=}" ;;
      --prefix)
        [[ $# -gt 1 ]] || fail "--prefix needs a folder"
        prefix="$2"
        shift
        ;;
      --copy-libtorch) copy_libtorch=1 ;;
      --uninstall) uninstall=1 ;;
      -h | --help)
        echo "$usage"
        exit 0
        ;;
      *) fail "unknown argument '$1' (see 'bazel run //:install -- --help')" ;;
    esac
    shift
  done
  [[ -n $prefix ]] || fail "missing --prefix DIR (see 'bazel run //:install -- --help')"
  [[ $prefix == /* ]] || prefix="${BUILD_WORKING_DIRECTORY:-$PWD}/$prefix"
  root="${DESTDIR:-}${prefix%/}"
}

# Bazel starts programs and tests in their runfiles; users may start them in any folder.
enter_runfiles() {
  local self
  self="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$(basename "${BASH_SOURCE[0]}")"
  [[ -e {FILES} ]] || cd "$self.runfiles/{WORKSPACE}" 2>/dev/null ||
    fail "missing files; run 'bazel run //:install'"
}

# Removes the stage and new folders that stayed empty.
clean_up() {
  [[ -z ${stage:-} ]] || rm -rf "$stage"
  [[ -z ${created:-} || ! -d $created ]] || find "$created" -depth -type d -empty -delete
}

# The outermost missing folder of a path, or nothing.
first_missing() {
  local path="$1" missing=
  while [[ ! -e $path && $path == */* ]]; do
    missing="$path"
    path="${path%/*}"
  done
  echo "$missing"
}

stage_files() {
  local path source
  while IFS=$'\t' read -r path source; do
    [[ -d $stage/${path%/*} ]] || mkdir -p "$stage/${path%/*}"
    attempt "cannot write $root/$path" cp "$source" "$stage/$path"
  done <{FILES}
  find "$stage" -type f -exec chmod 644 {} +
  chmod 755 "$stage"/bin/* "$stage"/lib/*.so
}

# Overwrites Bazel's run paths, which lead into its folders, with ours. The length of the file and
# all other strings in it stay the same.
set_run_path() {
  local file="$1" path="$2" old offset rest
  read -r rest old < <(objdump -p "$file" | grep -w -e RUNPATH -e RPATH) || true
  [[ ${#old} -ge ${#path} ]] || fail "$file: the run path '$old' is too short to hold '$path'"
  IFS=: read -r offset rest < <(LC_ALL=C grep -abo -F -- "$old" "$file")
  printf '%s\0' "$path" | dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
}

set_run_paths() {
  local file
  for file in "$stage"/bin/*; do
    set_run_path "$file" "\$ORIGIN/../lib:\$ORIGIN/../$libtorch_link/lib"
  done
  for file in "$stage"/lib/*.so; do
    set_run_path "$file" "\$ORIGIN:\$ORIGIN/${libtorch_link#lib/}/lib"
  done
}

stage_libtorch() {
  local libtorch part
  libtorch="$(cat {LIBTORCH})"
  [[ -e $libtorch/lib ]] || fail "the LibTorch of this build is missing: $libtorch; build again"
  mkdir -p "$stage/${libtorch_link%/*}"
  # A LibTorch that pip installed for the build lies in a cache, which may be cleaned at any time.
  if [[ -z $copy_libtorch && $libtorch != */torch-ir/torch-*/torch ]]; then
    ln -s "$libtorch" "$stage/$libtorch_link"
    return
  fi
  mkdir "$stage/$libtorch_link"
  for part in lib include share; do
    [[ -e $libtorch/$part ]] || continue
    # On one disk, hard links take neither time nor space.
    cp -RLl "$libtorch/$part" "$stage/$libtorch_link" 2>/dev/null ||
      attempt "cannot copy LibTorch" cp -RLf "$libtorch/$part" "$stage/$libtorch_link"
  done
}

# Fills in the versions that the program prints: torch-ir 0.1.0 (LibTorch 2.13.0).
stage_versions() {
  local said file
  said="$("$stage/bin/torch-ir" --version 2>&1)" ||
    fail "the installed program does not start: $(head -n 1 <<<"$said")"
  [[ $said =~ ^torch-ir\ ([0-9.]+)\ \(LibTorch\ ([0-9.]+) ]] || fail "torch-ir --version: $said"
  version="${BASH_REMATCH[1]}"
  libtorch_version="${BASH_REMATCH[2]}"
  for file in "$stage"/lib/cmake/torch_ir/*.cmake; do
    sed -e "s/@VERSION@/$version/" -e "s/@LIBTORCH_VERSION@/$libtorch_version/" "$file" >"$file.new"
    mv "$file.new" "$file"
  done
}

# Lists LibTorch as one entry, whether it is a link or a copy.
write_list() {
  (
    cd "$stage"
    find bin include lib share -path "$libtorch_link" -prune -print -o ! -type d -print
    echo "$list"
  ) >"$stage/list"
  mv "$stage/list" "$stage/$list"
}

installed_before() {
  [[ ! -e $root/$list ]] || cat "$root/$list"
}

# Finds problems before any file is moved, so that no installation is half done.
check_places() {
  local path folder before
  before="$(installed_before)"
  while read -r path; do
    folder="$root/${path%/*}"
    while [[ ! -e $folder ]]; do folder="${folder%/*}"; done
    [[ -d $folder && -w $folder ]] || fail "cannot write below $folder"
    [[ ! -e $root/$path && ! -L $root/$path ]] || grep -qxF "$path" <<<"$before" ||
      fail "$root/$path already exists, but torch-ir did not install it; choose another prefix"
  done <"$stage/$list"
}

# Removes the paths listed on standard input; none if a path is not below the prefix.
remove_listed() {
  local path paths
  mapfile -t paths
  for path in "${paths[@]}"; do
    [[ -n $path && $path != /* && /$path/ != */../* && /$path/ != */./* ]] ||
      fail "$root/$list names '$path', which is not below it"
  done
  for path in "${paths[@]}"; do
    # Removes a whole folder only if one was installed.
    if [[ $path == "$libtorch_link" ]]; then
      rm -rf "${root:?}/$path"
    else
      attempt "cannot remove $root/$path" rm -f "$root/$path"
    fi
    (cd "$root" && rmdir -p "${path%/*}" 2>/dev/null) || true
  done
}

install_all() {
  created="$(first_missing "$root")"
  trap clean_up EXIT
  attempt "cannot write to $root" mkdir -p "$root"
  stage="$root/.torch_ir.$$"
  attempt "cannot write to $root" mkdir -p "$stage"
  stage_files
  set_run_paths
  stage_libtorch
  stage_versions
  write_list
  check_places

  local path
  { installed_before | grep -vxF -f "$stage/$list" || true; } | remove_listed
  # If a folder or a link to one existed, mv would move the new one into it.
  rm -rf "${root:?}/$libtorch_link"
  while read -r path; do
    [[ -d $root/${path%/*} ]] || mkdir -p "$root/${path%/*}"
    mv -f "$stage/$path" "$root/$path"
  done < <(grep -vxF "$list" "$stage/$list")
  mv -f "$stage/$list" "$root/$list"
  echo "Installed torch-ir $version in $root; LibTorch $libtorch_version: $(libtorch_text)"
}

libtorch_text() {
  if [[ -L $root/$libtorch_link ]]; then readlink "$root/$libtorch_link"; else echo "copied"; fi
}

uninstall_all() {
  [[ -e $root/$list ]] || fail "torch-ir is not installed in $root: $list is missing"
  local listed
  listed="$(installed_before)"
  remove_listed <<<"$listed"
  echo "Removed torch-ir from $root"
}

take_arguments "$@"
if [[ -n $uninstall ]]; then
  uninstall_all
else
  enter_runfiles
  install_all
fi

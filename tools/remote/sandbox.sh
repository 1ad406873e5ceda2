#!/bin/bash
# Runs a command where there is nothing but the system's own compilers and libraries (the worker's
# image) and one folder, which it sees as /work:
#
#   unshare --mount --pid --fork tools/remote/sandbox.sh ROOT FOLDER UID COMMAND...
#
# ROOT is an empty folder. No home, no checkout, no /usr/local, no network but what the caller gave.
set -euo pipefail

root="$1" folder="$2" user="$3"
shift 3

mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
mkdir "$root"/{dev,proc,tmp,work}
chmod 1777 "$root/tmp"
for name in bin etc lib lib32 lib64 sbin usr; do
  if [[ -L /$name ]]; then
    cp -P "/$name" "$root/$name"
  elif [[ -d /$name ]]; then
    mkdir "$root/$name"
    mount --rbind "/$name" "$root/$name"
    mount -o remount,bind,ro "$root/$name"
  fi
done
mount -t tmpfs -o ro tmpfs "$root/usr/local"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$folder" "$root/work"
exec chroot --userspec="$user:$user" "$root" "$@"

#!/usr/bin/env python3
"""Tests the files that programs leave when they are killed, or meet full disks or read-only folders.

  faults_test.py HARNESS TORCH_IR FOLDER_OF_ARCHIVES [--kills N] [--seed S] [--only NAME]

Each of `torch-ir import`, `torch-ir execute` and `harness` replaces one set of files by another,
over and over, and is killed N times at random moments of its run, half of them close to its end,
the program alone or its process group: each file is then that of the one set or of the other, byte
for byte, where the last file is there (results.json) all are of the same set, and no process is left. Nothing here depends on how fast anything is. 30 kills of each in the
test; `bazel run //harness:faults_test -- --kills 1000` for figures.
"""

import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
# The last processes may take this long to end: a process that has just started ends only when it
# reaches its main function, which takes a while on a busy machine.
PATIENCE_SECONDS = 300
# Runs in a name space of its own, where it may mount.
UNSHARE = ["unshare", "--map-root-user", "--mount"]


def check(condition, message):
    if not condition:
        sys.exit("faults_test: " + message)


def pause(seconds=0.0002):
    """So short that the moment of a kill is any."""
    time.sleep(seconds)


def files_below(folder):
    """What a folder holds, by name; without what is hidden, which a killed run may leave."""
    files = {}
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith("."):
                continue
            file = os.path.join(path, name)
            with open(file, "rb") as content:
                files[os.path.relpath(file, folder)] = content.read()
    return files


def hidden_below(folder):
    found = []
    for path, folders, names in os.walk(folder):
        found += [os.path.join(path, name) for name in folders + names if name.startswith(".")]
    return found


def reap_all():
    """Waits for all processes that are this one's by now."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid != 0:
            continue
        if time.monotonic() > end:
            subprocess.run(["ps", "-eo", "pid,ppid,stat,args"], check=False)
            sys.exit("faults_test: processes are left")
        time.sleep(0.001)


class Command:
    """A command that replaces one set of files by another."""

    def __init__(self, name, folder, commands, staged, last):
        self.name = name
        self.folder = folder
        # The file that goes first and comes last.
        self.last = last
        # One for each set.
        self.commands = commands
        # Whether it is about to move files to their places.
        self.staged = staged
        self.sets = []
        self.seconds = 0
        self.seconds_of_end = 0

    def start(self, index):
        return subprocess.Popen(
            self.commands[index],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def measure(self):
        """The two sets, and how long it takes to make one, and to put it in its place."""
        for index in (1, 0):
            begin = time.monotonic()
            process = self.start(index)
            staged = None
            while process.poll() is None:
                if staged is None and self.staged():
                    staged = time.monotonic()
                pause()
            end = time.monotonic()
            check(process.returncode == 0, f"{self.name}: exit status {process.returncode}")
            self.sets.insert(0, files_below(self.folder))
            self.seconds = max(self.seconds, end - begin)
            self.seconds_of_end = max(self.seconds_of_end, end - (staged or end))
        check(self.sets[0] != self.sets[1], f"{self.name}: the two sets are the same")
        reap_all()

    def kill_once(self, rng, target):
        """Kills it on the way to the set `target`."""
        is_late = rng.random() < 0.5
        # The new files are in place long before the process has taken leave of its libraries.
        delay = rng.random() ** 3 * self.seconds_of_end if is_late else rng.random() * self.seconds
        whole_group = rng.random() < 0.5
        process = self.start(target)
        if is_late:
            while process.poll() is None and not self.staged():
                pause()
        end = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < end:
            pause()
        if process.poll() is None:
            (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
            process.wait()
        reap_all()

    def kill(self, num_kills, rng):
        self.measure()
        current = 0
        counts = {"before": 0, "during": 0, "after": 0}
        for i in range(num_kills):
            target = 1 - current
            self.kill_once(rng, target)
            files = files_below(self.folder)
            is_whole = files in self.sets
            check(
                is_whole or self.last not in files,
                f"{self.name}: torn after kill {i + 1}: {sorted(files)}",
            )
            for name, content in files.items():
                known = [one.get(name) for one in self.sets]
                check(content in known, f"{self.name}: {name} is torn after kill {i + 1}")
            has_new = files == self.sets[target]
            counts["during" if not is_whole else "after" if has_new else "before"] += 1
            current = target if has_new else current
        # The next one that ends by itself leaves nothing of theirs.
        subprocess.run(self.commands[current], check=True, capture_output=True)
        left = hidden_below(self.folder)
        check(not left, f"{self.name}: {left} are left")
        print(
            f"{self.name}: {num_kills} kills over {self.seconds:.2f} s: {counts['before']} left "
            f"the old files, {counts['during']} came in the middle, {counts['after']} found "
            "the new ones",
            flush=True,
        )


def work_directory_has(folder, name):
    """Whether a run of the harness or an import in `folder` has made the file `name`."""

    def look():
        try:
            entries = os.listdir(folder)
        except FileNotFoundError:
            return False
        return any(
            entry.startswith(".torch-ir-run-") and os.path.exists(os.path.join(folder, entry, name))
            for entry in entries
        )

    return look


def commands(harness, torch_ir, archives, scratch):
    archive = {name: os.path.join(archives, name + ".pt2") for name in ("small", "recurrent")}
    folder = os.path.join(scratch, "import")
    yield Command(
        "torch-ir import",
        folder,
        [[torch_ir, "import", file, "--output", folder] for file in archive.values()],
        work_directory_has(folder, "weights.safetensors"),
        "ir.json",
    )
    folder = os.path.join(scratch, "reports")
    reports = [harness, "--pt2", archive["small"], "--output", folder]
    yield Command(
        "harness",
        folder,
        [reports + ["--save-tensors"], reports + ["--seed", "7"]],
        work_directory_has(folder, "finished/SUMMARY.md"),
        "results.json",
    )
    tensors = os.path.join(scratch, "tensors")
    both = [word for file in archive.values() for word in ("--pt2", file)]
    subprocess.run(
        [harness, *both, "--output", tensors, "--save-tensors"], check=True, capture_output=True
    )
    folder = os.path.join(scratch, "execute")
    os.mkdir(folder)
    outputs = ["--outputs", os.path.join(folder, "outputs.safetensors")]
    yield Command(
        "torch-ir execute",
        folder,
        [
            [torch_ir, "execute", file, "--inputs", f"{tensors}/tensors/{name}.inputs.safetensors"]
            + outputs
            for name, file in archive.items()
        ],
        lambda: os.path.exists(os.path.join(folder, ".outputs.safetensors.torch-ir-tmp")),
        "outputs.safetensors",
    )


def check_executors(harness, archive, scratch, num_kills, rng):
    """What the shell of an executor has started is gone with the harness, also what left."""
    marker = os.path.join(scratch, "started")
    line = (
        "sleep 1000 & setsid sleep 1001 & (setsid sh -c 'sleep 1002 & sleep 1003' &) ; "
        f"touch '{marker}'; sleep 1004 # {{ir}} {{weights}} {{inputs}} {{outputs}}"
    )
    for i in range(num_kills):
        process = subprocess.Popen(
            [harness, "--pt2", archive, "--output", os.path.join(scratch, "e"), "--executor", line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None and not os.path.exists(marker):
            pause()
        pause(rng.random() * 0.01)
        check(process.poll() is None, "the harness did not wait for its executor")
        (os.killpg if rng.random() < 0.5 else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        reap_all()
        os.remove(marker)
    print(f"harness --executor: {num_kills} kills, no process is left", flush=True)


def check_refusal(name, command, folder, reason):
    before = files_below(folder)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    check(ended.returncode == 2, f"{name}: {reason}: exit status {ended.returncode}")
    lines = ended.stderr.splitlines()
    is_clear = len(lines) == 1 and reason in lines[0] and folder in lines[0]
    check(is_clear, f"{name}: {reason}: {ended.stderr}")
    check(files_below(folder) == before, f"{name}: {reason}: the old files have changed")
    check(not hidden_below(folder), f"{name}: {reason}: {hidden_below(folder)} are left")
    print(lines[0], flush=True)


def check_disks(harness, torch_ir, archives):
    """On a small disk of its own, with an earlier set of files: full, then read-only."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", scratch], check=True)
        every = list(commands(harness, torch_ir, archives, scratch))
        for command in every:
            subprocess.run(command.commands[0], check=True, capture_output=True)
        with open(os.path.join(scratch, "filler"), "wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096) == 4096:
                    pass
            except OSError:
                pass
        for command in every:
            check_refusal(
                command.name, command.commands[1], command.folder, "No space left on device"
            )
        subprocess.run(["mount", "-o", "remount,ro", scratch], check=True)
        for command in every:
            check_refusal(
                command.name, command.commands[1], command.folder, "Read-only file system"
            )
        subprocess.run(["umount", scratch], check=True)


def run_on_disks(programs):
    """check_disks, if this system allows mounting a disk."""
    may_mount = subprocess.run([*UNSHARE, "true"], capture_output=True, check=False)
    if may_mount.returncode == 0:
        subprocess.run([*UNSHARE, sys.executable, __file__, *programs, "--disks"], check=True)
    else:
        print("full and read-only disks: skipped, because this system does not allow mounting one")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("harness", type=os.path.abspath)
    parser.add_argument("torch_ir", type=os.path.abspath)
    parser.add_argument("archives", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the command with this in its name, and no disks")
    parser.add_argument("--disks", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    programs = (arguments.harness, arguments.torch_ir, arguments.archives)
    if arguments.disks:
        check_disks(*programs)
        return
    if not arguments.only:
        run_on_disks(programs)
    print(f"seed {arguments.seed}", flush=True)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch:
        for command in commands(*programs, scratch):
            if (arguments.only or "") in command.name:
                command.kill(arguments.kills, rng)
        if (arguments.only or "") in "harness --executor":
            archive = os.path.join(arguments.archives, "small.pt2")
            num_kills = max(1, arguments.kills // 10)
            check_executors(arguments.harness, archive, scratch, num_kills, rng)


if __name__ == "__main__":
    main()

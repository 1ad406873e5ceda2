#!/usr/bin/env python3
"""Measures what the harness costs by itself, beside the processes of the models.

    measure_harness.py HARNESS [COUNT]...

HARNESS is a build of //harness/benchmark:generated_harness. Each COUNT of its models (10, 100 and 1000
where none is given) runs one after the other. For each, the table has

    wall      milliseconds a model, all in all
    start     those that a bare process of the same program takes
    child     user and system time a model of its process
    parent    user and system time a model of the harness itself, children left out
    memory    the most that the harness itself kept, in MiB
"""

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time


def bare_start(harness, rounds=10):
    begin = time.monotonic()
    for _ in range(rounds):
        subprocess.run([harness, "--version"], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) / rounds


def peak_memory(pid):
    """The greatest resident size of a process while it lives, in MiB."""
    peak = 0

    def watch():
        nonlocal peak
        try:
            while True:
                with open(f"/proc/{pid}/status", encoding="ascii") as status:
                    for line in status:
                        if line.startswith("VmHWM:"):
                            peak = max(peak, int(line.split()[1]) / 1024)
                time.sleep(0.05)
        except (FileNotFoundError, ProcessLookupError):
            pass

    thread = threading.Thread(target=watch)
    thread.start()
    return thread, lambda: peak


def cpu_of(pid):
    """User and system seconds of a process itself, from /proc/PID/stat."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(harness, count):
    directory = tempfile.mkdtemp()
    names = subprocess.run(
        [harness, "--list-models"], check=True, capture_output=True, text=True
    ).stdout.split("\n")
    models = [line.split()[0] for line in names if line.startswith("Generated")][:count]
    arguments = [harness, "--output", directory, "--quiet"]
    for model in models:
        arguments += ["--model", model]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = subprocess.Popen(arguments)
    thread, peak = peak_memory(process.pid)
    # Left waitable, so that its own figures can still be read.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic() - begin
    parent = cpu_of(process.pid)
    if process.wait() != 0:
        raise SystemExit("the harness failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    thread.join()
    shutil.rmtree(directory)
    both = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return wall / count, parent / count, (both - parent) / count, peak()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("harness")
    parser.add_argument("counts", nargs="*", type=int, default=[10, 100, 1000])
    arguments = parser.parse_args()
    harness = os.path.abspath(arguments.harness)
    start = bare_start(harness)
    print("models      wall     start     child    parent    memory")
    for count in arguments.counts:
        wall, parent, child, memory = measure(harness, count)
        figures = [f"{1000 * value:7.1f} ms" for value in (wall, start, child, parent)]
        print(f"{count:6}{''.join(figures)}{memory:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()

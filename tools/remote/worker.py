"""A worker of a Remote Execution service, for proofs on one machine.

  worker.py HOST:PORT FOLDER [--jobs N]

Takes actions from the service's Bots interface, gives each a new folder with its declared inputs
and nothing else, runs it there (see sandbox.sh), and stores what it declared as outputs. Blobs are
kept in FOLDER. Needs root, for mounts, and the Python packages of buildgrid.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re_pb2
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import (
    bots_pb2,
    bots_pb2_grpc,
    worker_pb2,
)
from buildgrid._protos.google.rpc import code_pb2

from cas import Cas, digest_of, digest_of_file

SANDBOX = pathlib.Path(__file__).resolve().parent / "sandbox.sh"

# Actions run as nobody, who owns nothing outside of their folders.
NOBODY = 65534

# How long the service may keep a worker waiting for an action.
POLL_SECONDS = 120
ATTEMPTS = 5


class Outputs:
    """Collects what an action made; upload() stores it."""

    def __init__(self, root):
        self.root = root
        self.blobs = {}

    def add(self, content):
        digest = digest_of(content) if isinstance(content, bytes) else digest_of_file(content)
        self.blobs[digest.SerializeToString()] = content
        return digest

    def collect(self, name, result):
        path = self.root / name
        if path.is_symlink():
            result.output_symlinks.add(path=name, target=os.readlink(path))
        elif path.is_dir():
            tree = re_pb2.Tree()
            tree.root.CopyFrom(self._directory(path, tree))
            result.output_directories.add(path=name, tree_digest=self.add(tree.SerializeToString()))
        elif path.exists():
            result.output_files.add(
                path=name, digest=self.add(path), is_executable=os.access(path, os.X_OK)
            )

    def _directory(self, path, tree):
        directory = re_pb2.Directory()
        for child in sorted(path.iterdir()):
            if child.is_symlink():
                directory.symlinks.add(name=child.name, target=os.readlink(child))
            elif child.is_dir():
                inner = self._directory(child, tree)
                tree.children.append(inner)
                directory.directories.add(
                    name=child.name, digest=self.add(inner.SerializeToString())
                )
            else:
                directory.files.add(
                    name=child.name, digest=self.add(child), is_executable=os.access(child, os.X_OK)
                )
        return directory


def run_in_sandbox(scratch, inputs, command, timeout):
    root = scratch / "root"
    root.mkdir()
    variables = [f"{v.name}={v.value}" for v in command.environment_variables]
    enter = ["/usr/bin/env", "-i", f"--chdir=/work/{command.working_directory}"]
    process = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", str(SANDBOX)]
        + [str(root), str(inputs), str(NOBODY)]
        + enter
        + variables
        + list(command.arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout or None,
        check=False,
    )
    return process


def make_folders(path):
    """Makes a folder that actions may write to, with those above it."""
    if not path.exists():
        make_folders(path.parent)
        path.mkdir()
        os.chown(path, NOBODY, NOBODY)


def execute(cas, action, folder):
    command = cas.message(action.command_digest, re_pb2.Command)
    scratch = pathlib.Path(tempfile.mkdtemp(dir=folder))
    try:
        inputs = scratch / "work"
        cas.materialize(action.input_root_digest, inputs, NOBODY)
        directory = inputs / command.working_directory
        names = list(command.output_paths) or [
            *command.output_files,
            *command.output_directories,
        ]
        for name in names:
            make_folders((directory / name).parent)
        process = run_in_sandbox(scratch, inputs, command, action.timeout.seconds)
        result = re_pb2.ActionResult(exit_code=process.returncode)
        outputs = Outputs(directory)
        for name in names:
            outputs.collect(name, result)
        result.stdout_digest.CopyFrom(outputs.add(process.stdout))
        result.stderr_digest.CopyFrom(outputs.add(process.stderr))
        cas.upload(outputs.blobs)
        return result
    finally:
        shutil.rmtree(scratch)


def complete(cas, lease, folder):
    """Does what the lease asks for, and writes into it what came of that."""
    try:
        action = re_pb2.Action()
        if not lease.payload.Unpack(action):
            digest = re_pb2.Digest()
            lease.payload.Unpack(digest)
            action = cas.message(digest, re_pb2.Action)
        lease.result.Pack(execute(cas, action, folder))
        lease.status.code = code_pb2.OK
    except subprocess.TimeoutExpired:
        lease.status.code = code_pb2.DEADLINE_EXCEEDED
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        lease.status.code = code_pb2.INTERNAL
        lease.status.message = str(error)
    lease.state = bots_pb2.COMPLETED


def work(channel, cas, folder, name):
    bots = bots_pb2_grpc.BotsStub(channel)
    session = bots_pb2.BotSession(
        bot_id=name,
        status=bots_pb2.OK,
        worker=worker_pb2.Worker(devices=[worker_pb2.Device(handle="cpu")]),
    )
    session = bots.CreateBotSession(
        bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=POLL_SECONDS
    )
    while True:
        for lease in session.leases:
            if lease.state in (bots_pb2.PENDING, bots_pb2.ACTIVE):
                complete(cas, lease, folder)
        request = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
        session = update(bots, request)


def update(bots, request):
    """Hands in what is done and waits for more; a busy machine may need several attempts."""
    for attempt in range(ATTEMPTS):
        try:
            return bots.UpdateBotSession(request, timeout=POLL_SECONDS)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED or attempt == ATTEMPTS - 1:
                raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    limits = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    channel = grpc.insecure_channel(arguments.server, options=limits)
    cas = Cas(channel, arguments.folder / "blobs")
    folder = arguments.folder / "actions"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    threads = [
        threading.Thread(target=work, args=(channel, cas, folder, f"worker-{i}"), daemon=True)
        for i in range(arguments.jobs)
    ]
    for thread in threads:
        thread.start()
    while all(thread.is_alive() for thread in threads):
        time.sleep(1)
    sys.exit("worker.py: the service is gone")


if __name__ == "__main__":
    main()

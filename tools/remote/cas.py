"""A client of a content-addressable storage: blobs come to a folder, and folders go to it."""

import hashlib
import os
import pathlib
import threading
import uuid

from buildgrid._protos.build.bazel.remote.execution.v2 import (
    remote_execution_pb2 as re_pb2,
    remote_execution_pb2_grpc as re_grpc,
)
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc

# What goes into one message; larger blobs are streamed.
BATCH_BYTES = 2 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024


class CasError(Exception):
    """The storage does not have what it should."""


def digest_of(data):
    return re_pb2.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def digest_of_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return re_pb2.Digest(hash=digest.hexdigest(), size_bytes=path.stat().st_size)


def batches(sized):
    """Splits [(item, size)] into lists of items that fit into a message."""
    batch, total = [], 0
    for item, size in sized:
        if batch and total + size > BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch


class Cas:
    """Keeps every blob that it fetched in `folder`, once as a plain file and once as a program."""

    def __init__(self, channel, folder):
        self.storage = re_grpc.ContentAddressableStorageStub(channel)
        self.stream = bytestream_pb2_grpc.ByteStreamStub(channel)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.directories = {}
        self.lock = threading.Lock()

    def message(self, digest, kind):
        message = kind()
        message.ParseFromString(self.read(digest))
        return message

    def read(self, digest):
        if digest.size_bytes == 0:
            return b""
        name = f"blobs/{digest.hash}/{digest.size_bytes}"
        request = bytestream_pb2.ReadRequest(resource_name=name)
        return b"".join(response.data for response in self.stream.Read(request))

    def directory(self, digest):
        if digest.hash not in self.directories:
            self.directories[digest.hash] = self.message(digest, re_pb2.Directory)
        return self.directories[digest.hash]

    def materialize(self, root, path, owner):
        """Makes the folder `root` at `path`, of hard links; `owner` may write to folders only."""
        files = []
        self._make_folders(root, pathlib.Path(path), owner, files)
        self._fetch({node.digest.hash: node for _, node in files}.values())
        for target, node in files:
            os.link(self._blob_path(node), target)

    def _make_folders(self, digest, path, owner, files):
        path.mkdir(parents=True, exist_ok=True)
        os.chown(path, owner, owner)
        directory = self.directory(digest)
        files.extend((path / node.name, node) for node in directory.files)
        for node in directory.symlinks:
            (path / node.name).symlink_to(node.target)
        for node in directory.directories:
            self._make_folders(node.digest, path / node.name, owner, files)

    def _blob_path(self, node):
        return self.folder / (node.digest.hash + (".x" if node.is_executable else ""))

    def _fetch(self, nodes):
        with self.lock:
            missing = [node for node in nodes if not self._blob_path(node).exists()]
            small = [node for node in missing if node.digest.size_bytes <= BATCH_BYTES]
            # The same bytes may be a plain file here and a program there.
            kinds = {node.digest.hash: [] for node in small}
            for node in small:
                kinds[node.digest.hash].append(node)
            for batch in batches((node.digest, node.digest.size_bytes) for node in small):
                request = re_pb2.BatchReadBlobsRequest(digests=batch)
                for response in self.storage.BatchReadBlobs(request).responses:
                    if response.status.code:
                        raise CasError(f"{response.digest.hash}: {response.status.message}")
                    for node in kinds[response.digest.hash]:
                        self._keep(node, [response.data])
            for node in missing:
                if node.digest.size_bytes > BATCH_BYTES:
                    name = f"blobs/{node.digest.hash}/{node.digest.size_bytes}"
                    request = bytestream_pb2.ReadRequest(resource_name=name)
                    self._keep(node, (part.data for part in self.stream.Read(request)))

    def _keep(self, node, chunks):
        path = self._blob_path(node)
        temporary = path.with_name(path.name + ".new")
        with open(temporary, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        if temporary.stat().st_size != node.digest.size_bytes:
            raise CasError(f"{node.digest.hash}: not {node.digest.size_bytes} bytes")
        temporary.chmod(0o555 if node.is_executable else 0o444)
        temporary.rename(path)

    def upload(self, blobs):
        """Stores blobs, {digest as bytes: bytes or path}, that the storage does not have."""
        digests = [re_pb2.Digest.FromString(key) for key in blobs]
        request = re_pb2.FindMissingBlobsRequest(blob_digests=digests)
        missing = self.storage.FindMissingBlobs(request).missing_blob_digests
        small = [digest for digest in missing if digest.size_bytes <= BATCH_BYTES]
        for batch in batches((digest, digest.size_bytes) for digest in small):
            update = re_pb2.BatchUpdateBlobsRequest()
            for digest in batch:
                content = blobs[digest.SerializeToString()]
                data = content if isinstance(content, bytes) else content.read_bytes()
                update.requests.add(digest=digest, data=data)
            for response in self.storage.BatchUpdateBlobs(update).responses:
                if response.status.code:
                    raise CasError(f"{response.digest.hash}: {response.status.message}")
        for digest in missing:
            if digest.size_bytes > BATCH_BYTES:
                self.stream.Write(self._write_requests(digest, blobs[digest.SerializeToString()]))

    def _write_requests(self, digest, content):
        name = f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"
        data = content if isinstance(content, bytes) else content.read_bytes()
        for offset in range(0, len(data), CHUNK_BYTES):
            chunk = data[offset : offset + CHUNK_BYTES]
            yield bytestream_pb2.WriteRequest(
                resource_name=name if offset == 0 else "",
                write_offset=offset,
                data=chunk,
                finish_write=offset + len(chunk) == len(data),
            )

"""Inputs of the tools for clusters and Arrow: large mboxes, and a local S3 server."""

import contextlib, pathlib, shutil, socket, sys, time, urllib.request
from collections.abc import Iterator
from typing import Any

from world import free_port, start_quietly

BUCKET = "s3://mail"


class Input:
    """Roots, the records of one scan of these roots, and the options to read them."""

    def __init__(self, roots: list[str], records: pathlib.Path,
                 storage_options: dict[str, Any] | None = None) -> None:
        self.roots = roots
        self.records = records
        self.storage_options = storage_options


def files_below(paths: list[str]) -> Iterator[pathlib.Path]:
    for path in map(pathlib.Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.is_symlink():
                yield file


def mboxes(paths: list[str]) -> list[pathlib.Path]:
    """The splittable files below the paths, the smallest first."""
    from urlspool._urlspool import is_splittable

    found = []
    for file in files_below(paths):
        with open(file, "rb") as opened:
            if is_splittable(opened.read(64 << 10)):
                found.append(file)
    return sorted(found, key=lambda file: (file.stat().st_size, str(file)))


def write_large_mbox(files: list[pathlib.Path], path: pathlib.Path, size: int) -> None:
    written = 0
    with open(path, "wb") as out:
        while written < size:
            for file in files:
                with open(file, "rb") as source:
                    shutil.copyfileobj(source, out, 1 << 20)
                written = out.tell()
                if size <= written:
                    break
    print(f"large mbox: {written / 1e6:.0f} MB", flush=True)


@contextlib.contextmanager
def s3_server(roots: list[str]) -> Iterator[dict[str, Any]]:
    """A local S3 server with these files, whose keys are absolute paths. Yields its options."""
    import s3fs

    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = start_quietly(command)
    try:
        wait_for(port)
        endpoint = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
        options = {"key": "a", "secret": "b", "client_kwargs": endpoint}
        store = s3fs.S3FileSystem(**options)
        urllib.request.urlopen(urllib.request.Request(
            f"{endpoint['endpoint_url']}/mail", method="PUT")).close()
        stored = [0, 0]
        for path in files_below(roots):
            store.put_file(str(path), BUCKET + str(path))
            stored = [stored[0] + 1, stored[1] + path.stat().st_size]
        print(f"S3: {stored[0]} objects, {stored[1] / 1e6:.0f} MB", flush=True)
        yield options
    finally:
        server.kill()
        server.wait()


def wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"no server listens at port {port}")

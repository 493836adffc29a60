#!/usr/bin/env python3
"""Measures one task that reads an mbox from a store whose answers are late.

usage: store_latency.py [--mb N] [--delay-ms N] [--least FACTOR]

A local HTTP server waits before each answer, 30 ms by default. The mbox is read by single requests,
as any file of fsspec, and then ahead, as `urlspool.spark` and `urlspool.dask` read. Prints the
rates, the most requests at once and the bytes that were held. The exit code is 1 if the records
differ, more requests or bytes are in flight than permitted, or the second rate is less than FACTOR
times the first (3 by default). Each way is timed three times, and its best time counts.

Needs the package urlspool in this Python, and `pip install fsspec aiohttp`.
"""

import argparse
import http.server
import importlib.util
import multiprocessing
import re
import sys
import threading
import time

MESSAGE = (
    b"From a@b.example Mon Jan  1 00:00:00 1996\nFrom: a@b.example\nMessage-ID: <%d@b.example>\n"
    b"Date: Mon, 01 Jan 1996 00:00:00 GMT\n\nsee <URL:http://a.example/%d>\n%s\n"
)
# Lines as long as mail permits take a build without optimisation the least time.
LINES = (b"No address in this line. " * 39 + b"\n") * 270
ROUNDS = 3


class Store(http.server.BaseHTTPRequestHandler):
    """One object, of which each request gets a range after a delay."""

    protocol_version = "HTTP/1.1"
    content = b""
    delay = 0.0
    lock = threading.Lock()
    in_flight = 0
    most = 0

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer(200, b"", len(self.content))

    def do_GET(self):
        if self.path == "/most":
            most, Store.most = Store.most, 0
            return self.answer(200, str(most).encode())
        with Store.lock:
            Store.in_flight += 1
            Store.most = max(Store.most, Store.in_flight)
        time.sleep(self.delay)
        start, end = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"]).groups()
        found = memoryview(self.content)[int(start) : int(end or len(self.content)) + 1]
        # Before the answer: its reader may send the next request at once.
        with Store.lock:
            Store.in_flight -= 1
        self.answer(206, found)

    def answer(self, status, content, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        self.wfile.write(content)


def serve(size, delay, port):
    parts, held = [], 0
    while held < size:
        parts.append(MESSAGE % (len(parts), len(parts), LINES))
        held += len(parts[-1])
    Store.content, Store.delay = b"".join(parts), delay
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    server.daemon_threads = True
    port.put(server.server_address[1])
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=128)
    parser.add_argument("--delay-ms", type=float, default=30)
    parser.add_argument("--least", type=float, default=3)
    options = parser.parse_args()
    for module in ("urlspool", "fsspec", "aiohttp"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: {module} is not installed")
            return 77
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    server = context.Process(target=serve, args=(options.mb << 20, options.delay_ms / 1000, port))
    server.daemon = True
    server.start()
    try:
        return measure(f"http://127.0.0.1:{port.get(timeout=60)}", options)
    finally:
        server.kill()
        server.join()


def measure(address, options):
    import fsspec
    import urlspool
    from urlspool import _ahead
    from urlspool._splits import Split, scan_splits

    store = fsspec.filesystem("http")
    held = Held(_ahead)

    def alone():
        with store.open(f"{address}/a.mbox", "rb", cache_type="none") as file:
            return [record["url"] for record in urlspool.scan_stream(file, threads=1)]

    def ahead():
        split = Split(f"{address}/a.mbox", 0, store.size(f"{address}/a.mbox"))
        scanned = scan_splits([split], None, {"threads": 1})
        return [record["url"] for records in scanned for record in records]

    rates, records, failures = [], [], []
    for name, way in ("single requests", alone), ("read ahead", ahead):
        times = []
        for _ in range(ROUNDS):
            begun = time.monotonic()
            records.append(way())
            times.append(time.monotonic() - begun)
        most = int(store.cat_file(f"{address}/most"))
        rates.append((options.mb << 20) / 1e6 / min(times))
        print(f"{name:16} {rates[-1]:6.0f} MB/s, at most {most} requests and "
              f"{held.most >> 20} MiB at once")
        if _ahead.REQUESTS < most:
            failures.append(f"{most} requests were in flight")
    print(f"{rates[1] / rates[0]:.1f} times the rate, {len(records[0])} records")
    if any(found != records[0] for found in records) or not records[0]:
        failures.append("the records differ")
    if (_ahead.REQUESTS + 1) * _ahead.BLOCK_BYTES < held.most:
        failures.append(f"{held.most} bytes were held")
    if rates[1] < options.least * rates[0]:
        failures.append(f"the rate is less than {options.least} times that of single requests")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


class Held:
    """Counts the bytes in the blocks of files that are read ahead."""

    def __init__(self, module):
        self.most = 0
        request = module.ReadAhead._request

        def counted(file, start, end):
            requested = end - start + sum(block.end - block.start for block in file._blocks)
            self.most = max(self.most, requested)
            return request(file, start, end)

        module.ReadAhead._request = counted


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the servers of the worked audit in docs/audit.md.

usage: servers.py start | stop

Half of the Web site at http://localhost:8071/ is gone. A pywb at http://localhost:8072/lamps/
holds some of its pages. No server listens on port 8079. Both servers exit after ten minutes unless
they are stopped earlier. Needs pywb on PATH (`pip install pywb`).
"""

import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SITE, ARCHIVE = 8071, 8072
LIFETIME_SECONDS = 600
START_SECONDS = 180
ELSEWHERE = f"http://127.0.0.1:{SITE}"

# Path: status and redirect target. Other paths never existed.
PAGES = {
    "/": (200, None),
    "/catalogue/": (200, None),
    "/lamps/argand.html": (200, None),
    "/lamps/betty.html": (301, "/collections/betty.html"),
    "/collections/betty.html": (200, None),
    "/oil.html": (301, f"{ELSEWHERE}/oil/"),
    "/oil/": (200, None),
    "/news/1997.html": (302, "/"),
    "/exhibition/": (410, None),
    "/members.html": (403, None),
    "/search?q=lamps": (500, None),
}

# Captures: path, day, status.
CAPTURES = [
    ("/catalogue/", "1997-02-03", 200),
    ("/staff/jane.html", "1997-02-03", 200),
    ("/staff/jane.html", "2010-07-01", 200),
    ("/exhibition/", "1998-05-05", 404),
]


class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        if self.path == "/stop":
            threading.Thread(target=self.server.shutdown).start()
        status, place = PAGES.get(self.path, (200 if self.path == "/stop" else 404, None))
        self.send_response(status)
        if place:
            self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()


def capture(path, day, status):
    """Returns one record of a WARC file."""
    answer = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage"
    head = [
        "WARC/1.0",
        "WARC-Type: response",
        f"WARC-Target-URI: http://localhost:{SITE}{path}",
        f"WARC-Date: {day}T12:00:00Z",
        f"WARC-Record-ID: <urn:lamps:{day}{path}>",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(answer)}",
    ]
    return "\r\n".join(head) + f"\r\n\r\n{answer}\r\n\r\n"


def serve():
    # Without a handler, SIGTERM would leave the archive behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/lamps.warc", "w", newline="") as out:
            out.writelines(capture(*row) for row in CAPTURES)
        for command in (["init", "lamps"], ["add", "lamps", "lamps.warc"]):
            subprocess.run(["wb-manager", *command], cwd=folder, check=True, capture_output=True)
        archive = subprocess.Popen(
            ["wayback", "-b", "127.0.0.1", "-p", str(ARCHIVE)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            site = http.server.ThreadingHTTPServer(("127.0.0.1", SITE), Site)
            site.daemon_threads = True
            end = threading.Timer(LIFETIME_SECONDS, site.shutdown)
            end.daemon = True
            end.start()
            site.serve_forever()
        finally:
            archive.terminate()
            archive.wait()


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start():
    for tool in ("wb-manager", "wayback"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed: pip install pywb")
    if is_open(SITE) or is_open(ARCHIVE):
        sys.exit(f"somebody listens at port {SITE} or {ARCHIVE}")
    server = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "serve"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(10 * START_SECONDS):
        if is_open(SITE) and is_open(ARCHIVE):
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    server.terminate()
    server.wait()
    sys.exit("the servers did not start; run wayback to see a reason, or try again")


def main():
    match sys.argv[1:]:
        case ["start"]:
            start()
        case ["stop"]:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{SITE}/stop").read()
            except urllib.error.URLError:
                sys.exit(f"no server listens at port {SITE}")
            # The next ones need the ports.
            while is_open(SITE) or is_open(ARCHIVE):
                time.sleep(0.1)
        case ["serve"]:
            serve()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()

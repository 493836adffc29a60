"""A world for an audit, in a private network. Library of audit_check.py.

enter_network() restarts the program in network and mount namespaces. No packet leaves the machine,
a local name server answers every query, and the planned hosts have local addresses. A seeded plan
decides the answers of each host and page, and the captures in a local pywb.
"""

import http.server, os, random, shutil, socket, socketserver, sqlite3, ssl, struct, subprocess, sys
import threading, time, urllib.parse

from world import run

ENTERED = "URLSPOOL_AUDIT_NETWORK"

# Local addresses, in the private network.
LIVE, PLAIN, SILENT, REFUSED, PRIVATE, METADATA = (
    "151.1.1.1", "151.1.1.2", "151.1.1.3", "151.1.1.9", "10.1.1.1", "169.254.169.254")
UNREACHABLE = "153.1.1.1"

# Kinds of hosts: weight, state of the links, error, address or answer of the name server.
HOSTS = {
    "live": (80, None, None, LIVE),
    "no host": (6, "dead_host", "dns", "NXDOMAIN"),
    "no address": (2, "dead_host", "dns", ""),
    "no answer of the name server": (1, "unknown", "other", "SERVFAIL"),
    "refused": (4, "dead_host", "connect", REFUSED),
    "unreachable": (2, "dead_host", "connect", UNREACHABLE),
    "silent": (1, "dead_host", "timeout", SILENT),
    "private": (1, "unknown", "excluded", PRIVATE),
    # The address alternates between public and private. Planned only by name.
    "rebinding": (0, None, None, LIVE),
    # Its https port does not speak TLS. Its http port is live.
    "tls": (3, "unknown", "tls", PLAIN),
}

# Kinds of pages on live hosts: weight, state, HTTP code at the end of redirects, error.
PAGES = {
    "alive": (40, "alive", 200, None),
    "moved within the host": (8, "alive", 200, None),
    "moved three times": (2, "alive", 200, None),
    "moved within the domain": (4, "alive", 200, None),
    "moved to another host": (6, "redirected", 200, None),
    "moved to the front page": (5, "redirected", 200, None),
    "moved to no host": (2, "dead_host", None, "dns"),
    "moved to a private name": (1, "unknown", None, "excluded"),
    "moved to a private address": (2, "unknown", None, "excluded"),
    "moved in a circle": (1, "unknown", 301, None),
    "moved to a page that is gone": (2, "dead_page", 404, None),
    "404": (15, "dead_page", 404, None),
    "410": (5, "dead_page", 410, None),
    "401": (1, "unknown", 401, None),
    "403": (2, "unknown", 403, None),
    "429": (1, "unknown", 429, None),
    "451": (1, "unknown", 451, None),
    "500": (2, "unknown", 500, None),
    "503": (1, "unknown", 503, None),
    "slow": (1, "dead_host", None, "timeout"),
    "closed": (1, "unknown", None, "other"),
    "reset": (1, "unknown", None, "other"),
}

ALWAYS_ALIVE = {"elsewhere.moved.net"}
# State, code and error of a link that is not contacted.
EXCLUDED = ("unknown", None, "excluded")
NO_HOST, PRIVATE_NAME, OTHER_NAME = "gone.moved.net", "inside.moved.net", "other-name."
STEP = "/_step"
# On a busy machine, SLACK=4 lets the check wait longer for answers.
SLACK = int(os.environ.get("SLACK", "1"))
SLOW_SECONDS, TIMEOUT_SECONDS = 6 * SLACK, 3 * SLACK
# A silent host with many links would take minutes.
SILENT_LINKS = 20


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def enter_network():
    """Restarts this program in a private network. Exits with 77 if none is possible."""
    if os.environ.get(ENTERED):
        set_up_network()
        return
    for tool in ("unshare", "ip", "mount", "openssl"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed: no private network can be created")
    unshare = ["unshare", "-mn"] if os.geteuid() == 0 else ["unshare", "-rmn"]
    if run(*unshare, "ip", "link", "set", "lo", "up").returncode != 0:
        skip(f"`{' '.join(unshare)}` may not create a private network here")
    os.environ[ENTERED] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def set_up_network():
    """Configures local public and private networks, an unreachable one, and a name server."""
    routes = ["local 151.1.1.0/24 dev lo", f"local {PRIVATE} dev lo",
              f"local {METADATA} dev lo", f"unreachable {UNREACHABLE}"]
    subprocess.run("ip link set lo up".split(), check=True)
    for route in routes:
        subprocess.run(f"ip route add {route}".split(), check=True)
    resolver = f"/tmp/urlspool-audit-resolv.{os.getpid()}"
    with open(resolver, "w") as out:
        out.write("nameserver 127.0.0.1\noptions timeout:5 attempts:3\n")
    subprocess.run(["mount", "--bind", resolver, "/etc/resolv.conf"], check=True)
    os.unlink(resolver)


def rows(database, sql):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


def is_address(host):
    return host.replace(".", "").isdigit()


def begin_of(path):
    """The page at the start of a chain of redirects."""
    while path.startswith(STEP):
        path = path[len(STEP):]
    return path


class Plan:
    """The answers of each host, page and archive. They depend only on the seed and the URLs."""

    def __init__(self, seed, urls):
        self.seed = seed
        links, has_ports = {}, set()
        for url in urls:
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname.rstrip(".")
            links[host] = links.get(host, 0) + 1
            if parts.port is not None:
                has_ports.add(host)
        self.hosts = {host: self.choose_host(host, count, host in has_ports)
                      for host, count in links.items()}

    def choose(self, text, table):
        names = list(table)
        weights = [table[name][0] for name in names]
        return random.Random(f"{self.seed}/{text}").choices(names, weights)[0]

    def choose_host(self, host, links, has_ports):
        if host in ALWAYS_ALIVE or is_address(host):
            return "live"
        if ":" in host:
            # no network has IPv6, so this proves no fault either
            return "no answer of the name server"
        kind = self.choose(host, HOSTS)
        # A server of these kinds listens only on the usual ports.
        return ("live" if kind == "silent" and SILENT_LINKS < links
                or kind in ("silent", "tls") and has_ports else kind)

    def host(self, host):
        host = host.rstrip(".")
        if host in ALWAYS_ALIVE or host.startswith(OTHER_NAME):
            return "live"
        if host == PRIVATE_NAME:
            return "private"
        return self.hosts.get(host, "no host")

    def page(self, host, path):
        if host in ALWAYS_ALIVE or path.startswith("/_alive/"):
            return "alive"
        if path.startswith("/_gone/"):
            return "404"
        kind = self.choose(host + urllib.parse.unquote(path), PAGES)
        # A front page that redirects to itself is a circle, and one that is gone does not count.
        if kind == "moved to the front page" and (path == "/" or self.page(host, "/") != "alive"):
            return "alive"
        if kind == "moved within the domain" and is_address(host.split(":")[0]):
            return "alive"
        return kind

    def place(self, kind, host, path):
        # Clients do not follow an address with brackets, which some links have.
        quoted = urllib.parse.quote(path, safe="/?&=%:;,+")
        text = quoted.strip("/") or "front"
        steps = (len(path) - len(begin_of(path))) // len(STEP)
        return {
            "moved within the host": f"/_alive/{text}",
            "moved three times": f"{STEP}{quoted}" if steps < 2 else f"/_alive/{text}",
            "moved to another host": f"http://elsewhere.moved.net/_alive/{text}",
            "moved to the front page": f"http://{host}/",
            "moved to no host": f"http://{NO_HOST}/{text}",
            "moved to a private name": f"http://{PRIVATE_NAME}/{text}",
            "moved to a private address": f"http://{METADATA}/{text}",
            "moved within the domain": f"http://{OTHER_NAME}{host}/_alive/{text}",
            "moved in a circle": f"http://{host}{quoted}",
            "moved to a page that is gone": f"/_gone/{text}",
        }.get(kind)

    def expected(self, url):
        """State, HTTP code and error expected from a check of this URL."""
        parts = urllib.parse.urlsplit(url)
        kind = self.host(parts.hostname)
        if kind not in ("live", "rebinding") and not (kind == "tls" and parts.scheme == "http"):
            _, state, error, _ = HOSTS[kind]
            return state, None, error
        path = (parts.path or "/") + (f"?{parts.query}" if "?" in url else "")
        path = path if path[:2] != "//" else "/" + path.lstrip("/")  # like http.server
        _, state, status, error = PAGES[self.page(parts.netloc, path)]
        return state, status, error

    def captures(self, key):
        """The captures of a page in the archive, by canonical key: day and status."""
        return random.Random(f"{self.seed}/archive/{key}").choices([
            [("19930101", 200), ("20220101", 200)],
            [("20000101", 404), ("20220101", 200)],
            [("20000101", 404)],
            [("20000101", 301)],
            [],
        ], [40, 5, 10, 5, 40])[0]


class NameServer(socketserver.BaseRequestHandler):
    """Answers DNS queries according to the plan."""

    questions = 0

    def handle(self):
        question, to = self.request
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode("ascii", "replace"))
            at += 1 + question[at]
        kind, = struct.unpack("!H", question[at + 1:at + 3])
        host = self.server.plan.host(".".join(labels).lower())
        answer = HOSTS[host][3]
        if host == "rebinding" and kind == 1:
            NameServer.questions += 1
            answer = PRIVATE if NameServer.questions % 2 == 0 else LIVE
        code = {"NXDOMAIN": 3, "SERVFAIL": 2}.get(answer, 0)
        has_address = kind == 1 and code == 0 and answer != ""
        head = struct.pack("!HHHHH", 0x8180 | code, 1, int(has_address), 0, 0)
        reply = question[:2] + head + question[12:at + 5]
        if has_address:
            reply += b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(answer)
        to.sendto(reply, self.client_address)


class Page(http.server.BaseHTTPRequestHandler):
    """Answers requests for pages according to the plan, with TLS if the client uses it."""

    protocol_version = "HTTP/1.1"
    requests = 0
    lock = threading.Lock()

    def setup(self):
        begins_tls = self.request.recv(1, socket.MSG_PEEK) == b"\x16"
        if begins_tls:
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def log_message(self, *args):
        pass

    def do_GET(self):
        with Page.lock:
            Page.requests += 1
        host, plan = self.headers["Host"].lower(), self.server.plan
        path = self.path
        kind = plan.page(host, begin_of(path))
        if kind in ("closed", "reset"):
            if kind == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET,
                                           socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if kind == "slow":
            time.sleep(SLOW_SECONDS)
        place = plan.place(kind, host, path)
        self.send_response(int(kind) if kind.isdigit() else 301 if place else 200)
        if place:
            self.send_header("Location", place)
        if kind == "429":
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


class Silence(socketserver.BaseRequestHandler):
    def handle(self):
        time.sleep(SLOW_SECONDS)


class NoTls(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(1 << 16)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
                             b"Content-Length: 0\r\n\r\n")


class Trap(socketserver.BaseRequestHandler):
    """A server on a private address, which no check may contact."""

    contacts = 0

    def handle(self):
        Trap.contacts += 1


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True
    request_queue_size = 1024
    plan = tls = None

    def handle_error(self, request, client_address):
        """A check that stops waiting closes its connection."""


class World:
    def __init__(self, plan, urls, folder):
        self.plan = plan
        names = socketserver.ThreadingUDPServer(("127.0.0.1", 53), NameServer)
        names.daemon_threads, names.plan = True, plan
        threading.Thread(target=names.serve_forever, daemon=True).start()
        tls = self.certificate(folder, plan.hosts)
        places = {(LIVE, 80), (LIVE, 443), (PLAIN, 80)}
        for url in urls:
            parts = urllib.parse.urlsplit(url)
            port = parts.port or {"http": 80, "https": 443}[parts.scheme]
            if plan.host(parts.hostname) == "live":
                places.add((self.address(parts.hostname), port))
            if plan.host(parts.hostname) == "tls" and parts.scheme == "http":
                places.add((PLAIN, port))
        for address, port in sorted(places):
            self.serve(Page, address, port, tls)
        self.serve(NoTls, PLAIN, 443, None)
        for port in (80, 443):
            self.serve(Silence, SILENT, port, None)
            for address in (PRIVATE, METADATA):
                self.serve(Trap, address, port, None)

    def address(self, host):
        """The address of a live host. Without a name, it is added to this machine."""
        if not is_address(host):
            return LIVE
        subprocess.run(f"ip route replace local {host} dev lo".split(), check=True)
        return host

    def certificate(self, folder, hosts):
        """A certificate for these hosts and their redirect targets, trusted by later programs."""
        files = [f"{folder}/key.pem", f"{folder}/certificate.pem"]
        named = [host for host in hosts if not is_address(host) and ":" not in host]
        names = [f"DNS:{host}" for host in [*named, *ALWAYS_ALIVE]]
        names += [f"DNS:{OTHER_NAME}{host}" for host in named]
        names += [f"IP:{host}" for host in hosts if is_address(host)]
        with open(f"{folder}/certificate.cnf", "w") as out:
            out.write("[req]\ndistinguished_name=name\nprompt=no\nx509_extensions=ext\n"
                      "[name]\nCN=audit\n[ext]\nbasicConstraints=critical,CA:FALSE\n"
                      f"subjectAltName={','.join(names)}\n")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-config", f"{folder}/certificate.cnf", "-keyout", files[0],
            "-out", files[1], check=True)
        os.environ["SSL_CERT_FILE"] = files[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files[1], files[0])
        return context

    def serve(self, handler, address, port, tls):
        server = Server((address, port), handler)
        server.plan, server.tls = self.plan, tls
        threading.Thread(target=server.serve_forever, daemon=True).start()

"""A PostgreSQL server for the tools, on a socket in a temporary folder that no other tool uses."""

import contextlib, glob, os, pwd, shutil, subprocess, sys, tempfile, time


def initdb():
    return shutil.which("initdb") or next(iter(glob.glob("/usr/lib/postgresql/*/bin/initdb")), None)


class Postgresql:
    """A server on a socket in a temporary folder. Root runs it as user postgres."""

    def __init__(self, name, *options):
        found = initdb()
        if found is None:
            print("SKIPPED: initdb is not installed", file=sys.stderr)
            sys.exit(77)
        self.programs = os.path.dirname(os.path.realpath(found))
        self.folder = tempfile.mkdtemp(prefix=f"urlspool-{name}-pg")
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.run(f"{self.programs}/initdb", "-D", self.data, "-A", "trust", "-E", "UTF8", "-U", "u")
        self.options = options
        self.start()
        self.target = f"postgresql:///postgres?host={self.folder}&user=u"

    def run(self, *command, **more):
        return subprocess.run(
            command, check=True, capture_output=True, text=True,
            user=self.user.pw_uid, group=self.user.pw_gid, cwd="/", **more
        ).stdout

    def start(self):
        more = "".join(f" -c {option}" for option in self.options or ["listen_addresses=''"])
        options = f"-k {self.folder} -c fsync=off -c full_page_writes=off{more}"
        self.run(f"{self.programs}/pg_ctl", "-D", self.data,
                 "-o", options, "-w", "-l", f"{self.folder}/log", "start")

    def restart(self):
        self.run(f"{self.programs}/pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        time.sleep(2)
        self.start()

    def psql(self, text, *args):
        command = [f"{self.programs}/psql", "-h", self.folder,
                   "-U", "u", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-At", "-F", "\x1f"]
        given = {"input": text} if isinstance(text, str) else {"stdin": text}
        return self.run(*command, *args, **given)

    def rows(self, query):
        return [tuple(row.split("\x1f")) for row in self.psql("", "-c", query).split("\n")[:-1]]

    def processor_seconds(self):
        """Processor time of the server and its finished processes."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            server = int(file.readline())
        with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as file:
            children = file.read().split()
        ticks = 0
        for process, numbers in [(server, slice(11, 15)),
                                 *((child, slice(11, 13)) for child in children)]:
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{process}/stat",
                                                              encoding="utf-8") as file:
                ticks += sum(map(int, file.read().rsplit(")", 1)[1].split()[numbers]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.run(f"{self.programs}/pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

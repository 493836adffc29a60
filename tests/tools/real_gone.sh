#!/usr/bin/env bash
# A real IMAP server removes mail while `urlspool watch` with tombstones and `urlspool load --follow` run: the database must hold the
# URLs of the mail that is still there, and no others, after each step.
#
#   tests/tools/real_gone.sh [PROGRAM]
#
# Needs python3, root, and Dovecot (apt-get install dovecot-imapd; `real_servers.sh` says more). MESSAGES is the number of messages for
# each mailbox (30), IMAP_PORT a port (default: a free one). The exit code is 1 if the database differs, 77 if Dovecot is missing.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: needs root" >&2; exit 77; }
lda=/usr/lib/dovecot/dovecot-lda
for p in dovecot doveadm "$lda"; do command -v "$p" >/dev/null || { echo "SKIPPED: $p is not installed" >&2; exit 77; }; done
. "$(dirname "$(readlink -f "$0")")/servers.sh"
imap_port=${IMAP_PORT:-$(free_port)}
work=$(mktemp -d)
chmod 755 "$work" # the server runs as another user
user=urlspool-$$ watch='' load=''
end() {
  [ -z "$watch" ] || kill "$watch" 2>/dev/null || true
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  stop_dovecot
  wait
  userdel "$user" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT
useradd --home-dir "$work/home" --create-home --shell /bin/sh "$user"

cat >"$work/tool.py" <<'PY'
import imaplib, os, sqlite3, subprocess, sys, time

def make(folder, count):
    os.makedirs(folder)
    for n in range(int(count)):
        with open(f"{folder}/{n}", "w") as f:
            f.write(f"From: a@h.example\nSubject: {n}\nMessage-ID: <{n}@h.example>\n\n"
                    f"See http://h.example/{n}/a and\nhttp://h.example/{n}/b.\n")

def imap(port, user, act):
    """`third` removes every third message, `half` flags all and removes every second one, `all` removes all."""
    with imaplib.IMAP4("127.0.0.1", int(port)) as i:
        i.login(user, "pw")
        i.select("INBOX")
        numbers = i.search(None, "ALL")[1][0].split()
        if act == "half":
            i.store("1:*", "+FLAGS", r"(\Seen \Answered)")
        for n in numbers[::{"third": 3, "half": 2, "all": 1}[act]]:
            i.store(n, "+FLAGS", r"(\Deleted)")
        i.expunge()
        i.close()

def compare(program, spool, database, step):
    """Waits until the database holds the URLs of the spool; fails after a minute."""
    scan = [program, "scan", "--quiet", "--format", "urls", spool]
    begun = time.time()
    while True:
        there = sorted(subprocess.run(scan, stdout=subprocess.PIPE, text=True).stdout.split())
        try:
            db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
            rows = sorted(url for url, in db.execute("SELECT url FROM urls"))
            links = list(db.execute("SELECT citations FROM links"))
        except sqlite3.OperationalError:
            rows = links = None
        if rows == there and len(links) == len(set(there)):
            print(f"{step:32} {len(there):5} URLs, equal after {time.time() - begun:4.1f} s")
            return
        if time.time() - begun > 60:
            sys.exit(f"{step}: {len(there)} URLs are there, the database has {rows and len(rows)}")
        time.sleep(0.2)

globals()[sys.argv[1]](*sys.argv[2:])
PY
tool() { python3 "$work/tool.py" "$@"; }
tool make "$work/messages" "${MESSAGES:-30}"

for kind in mbox maildir; do
  d=$work/$kind
  mkdir -p "$d/spool/mail"
  chown -R "$user" "$d/spool"
  location=mbox:$d/spool/mail/folders:INBOX=$d/spool/mail/inbox
  [ "$kind" = mbox ] || location=maildir:$d/spool/mail
  cat >"$d/urlspool.toml" <<CONF
[output]
dir = "$d/out"
seal_interval = "500ms"
tombstones = true
[state]
dir = "$d/state"
[watch]
settle = "300ms"
sweep = "2s"
gone_after = "1s"
[metrics]
listen = ""
[[spool]]
path = "$d/spool"
CONF
  start_dovecot "$d" "$location" "$d/spool/mail"
  wait_until_open "$imap_port"
  mkdir -p "$d/out"
  "$program" watch --config "$d/urlspool.toml" 2>"$d/watch.log" &
  watch=$!
  "$program" load --into "$d/urls.db" --follow --delete-segments "$d/out" 2>"$d/load.log" &
  load=$!
  deliver() { local f; for f in "$work/messages/"*; do "$lda" -c "$dovecot" -f a@h.example -d "$user" <"$f"; done; }
  check() { tool compare "$program" "$d/spool" "$d/urls.db" "$kind: $1" || { tail "$d/watch.log" "$d/load.log" >&2; exit 1; }; }
  deliver; check "delivered"
  tool imap "$imap_port" "$user" third; check "every third expunged"
  tool imap "$imap_port" "$user" half; check "flagged, every second expunged"
  tool imap "$imap_port" "$user" all; check "all expunged"
  deliver; check "delivered again"
  kill "$watch" "$load"
  wait "$watch" "$load" || true
  watch='' load=''
  stop_dovecot
  wait_until_closed "$imap_port"
done

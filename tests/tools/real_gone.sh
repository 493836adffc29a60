#!/usr/bin/env bash
# Removes messages on real servers while `urlspool watch` with tombstones and `urlspool load
# --follow` run. Dovecot expunges mail in an mbox and in a Maildir; INN cancels and expires articles
# in a news spool. After each step, the database must hold exactly the URLs of the remaining
# messages.
#
#   tests/tools/real_gone.sh [PROGRAM]
#
# Needs python3, root, and Dovecot or INN (apt-get install dovecot-imapd inn2; see
# `real_servers.sh`); missing servers are reported and skipped. MESSAGES is the number of messages
# per spool (30); IMAP_PORT and NEWS_PORT choose ports (default: free ones). The exit code is 1 if
# the database differs, 77 if there is no server.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: needs root" >&2; exit 77; }
here=$(dirname "$(readlink -f "$0")")
. "$here/servers.sh"
messages=${MESSAGES:-30}
imap_port=${IMAP_PORT:-$(free_port)} news_port=${NEWS_PORT:-$(free_port)}
work=$(mktemp -d)
chmod 755 "$work" # the server runs as another user
user=urlspool-$$ watch='' load=''
end() {
  [ -z "$watch" ] || kill "$watch" 2>/dev/null || true
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  stop_dovecot
  stop_inn
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
    """Removes every third message, every second one (`half`, after flagging all), or all."""
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

# Starts the daemon and the loader for a spool.
follow() { # folder, spool
  local d=$1
  mkdir -p "$d/out"
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
path = "$2"
CONF
  "$program" watch --config "$d/urlspool.toml" 2>"$d/watch.log" &
  watch=$!
  "$program" load --into "$d/urls.db" --follow --delete-segments "$d/out" 2>"$d/load.log" &
  load=$!
}
unfollow() {
  kill "$watch" "$load"
  wait "$watch" "$load" || true
  watch='' load=''
}
# Compares the database with the spool after a step.
check() { # folder, spool, step
  tool compare "$program" "$2" "$1/urls.db" "$3" ||
    { tail "$1/watch.log" "$1/load.log" >&2; exit 1; }
}

tried=no
if have "expunged mail" dovecot doveadm "$lda"; then
  tried=yes
  tool make "$work/messages" "$messages"
  for kind in mbox maildir; do
    d=$work/$kind
    mkdir -p "$d/spool/mail"
    chown -R "$user" "$d/spool"
    location=mbox:$d/spool/mail/folders:INBOX=$d/spool/mail/inbox
    [ "$kind" = mbox ] || location=maildir:$d/spool/mail
    start_dovecot "$d" "$location" "$d/spool/mail"
    wait_until_open "$imap_port"
    follow "$d" "$d/spool"
    deliver() {
      for file in "$work/messages/"*; do deliver_by_dovecot "$file"; done
    }
    deliver; check "$d" "$d/spool" "$kind: delivered"
    tool imap "$imap_port" "$user" third; check "$d" "$d/spool" "$kind: every third expunged"
    tool imap "$imap_port" "$user" half; check "$d" "$d/spool" "$kind: every second expunged"
    tool imap "$imap_port" "$user" all; check "$d" "$d/spool" "$kind: all expunged"
    deliver; check "$d" "$d/spool" "$kind: delivered again"
    unfollow
    stop_dovecot
    wait_until_closed "$imap_port"
  done
fi

# Removes the articles that expire.ctl(5) lets expire, with their overview, like news.daily.
expire() { # rules
  printf '%s\n' /remember/:0 "$@" >"$work/inn/etc/expire.ctl"
  as_news expireover -e >"$work/inn/log/expireover" 2>&1 ||
    { cat "$work/inn/log/expireover" >&2; exit 2; }
}

if [ ! -x "$bin/innd" ]; then
  skip "expired news: inn2 is not installed"
elif ! start_inn false; then
  skip "expired news: innd does not start: $(tail -n 1 "$work/inn/log/out")"
else
  tried=yes
  d=$work/news spool=$work/inn/spool/articles
  news() { python3 "$here/real_servers.py" "$@"; }
  news make single "$messages" "$work/posted-single" local.test
  news make crossed "$messages" "$work/posted-crossed" local.urls,local.test
  follow "$d" "$spool"
  # Every second article of the latter is in both groups.
  news post "$news_port" "$work/posted-single"
  news post "$news_port" "$work/posted-crossed"
  check "$d" "$spool" "news: posted"
  for n in $(seq 0 3 $((messages - 1))); do as_news ctlinnd -s cancel "<single.$n@h.example>"; done
  check "$d" "$spool" "news: every third cancelled"
  expire '*:A:never:never:never' 'local.test:A:0:0:0'
  check "$d" "$spool" "news: one group expired"
  expire '*:A:0:0:0'
  check "$d" "$spool" "news: all expired"
  unfollow
  stop_inn
fi

[ "$tried" = yes ] || exit 77

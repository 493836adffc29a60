#!/usr/bin/env bash
# Real servers and delivery agents write while the daemon watches and is killed every 0.3 to 2 seconds. Each URL that was posted must be
# written once.
#
#   tests/tools/real_servers_kills.sh [PROGRAM] [ROUNDS]
#
# Needs root and python3; a server that is not installed is reported as skipped. real_servers.sh says how to install the
# servers. Everything listens on 127.0.0.1 only. Eight rounds, the default, take about five minutes. The exit code is
# 1 if URLs differ, 77 if no server could be tried.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
rounds=${2:-8}
messages=${MESSAGES:-12}
news_port=${NEWS_PORT:-11129} imap_port=${IMAP_PORT:-10153} smtp_port=${SMTP_PORT:-10035}
here=$(dirname "$(readlink -f "$0")")
. "$here/servers.sh"
work=$(mktemp -d)
chmod 755 "$work" # the servers run as other users
user='' killer='' tried=0
tool() { python3 "$here/real_servers.py" "$@"; }
end() {
  [ -z "$killer" ] || kill "$killer" 2>/dev/null || true
  [ ! -s "$work/daemon" ] || kill -9 "$(cat "$work/daemon")" 2>/dev/null || true
  stop_inn
  stop_dovecot
  [ -z "$postfix" ] || postfix -c "$postfix" stop >/dev/null 2>&1 || true
  [ -z "$user" ] || userdel -r "$user" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT

if [ "$(id -u)" = 0 ] && ! id urlspool-test >/dev/null 2>&1; then
  useradd --home-dir "$work/home" --create-home --shell /bin/sh urlspool-test
  user=urlspool-test
fi
mkdir -p "$work"/{drop.maildir/{new,cur,tmp},boxes,postfix/mail,dovecot/mail,inn/spool/articles,posted}
cat >"$work/c.toml" <<TOML
[output]
dir = "$work/out"
seal_interval = "500ms"
[state]
dir = "$work/state"
commit_interval = "50ms"
[watch]
settle = "1s"
[metrics]
listen = ""
TOML
for spool in drop.maildir boxes postfix/mail dovecot/mail/inbox inn/spool/articles; do
  printf '[[spool]]\npath = "%s"\n' "$work/$spool" >>"$work/c.toml"
done

# The servers start before their spools are watched, because they create the spools at their first start.
if have_root postfix && have postfix postfix postconf && [ -n "$user" ]; then
  start_postfix "$work/postfix" ''
fi
if have_root inn && { [ -x "$bin/innd" ] || { skip "inn: inn2 is not installed"; false; }; }; then
  start_inn true
fi
if have_root dovecot && have dovecot dovecot doveadm && [ -n "$user" ]; then
  d=$work/dovecot
  chown "$user" "$d/mail"
  start_dovecot "$d" "mbox:$d/mail/folders:INBOX=$d/mail/inbox" "$d/mail"
  wait_until_open "$imap_port"
fi

( # kills the daemon again and again
  number=0
  while :; do
    "$program" watch --config "$work/c.toml" 2>>"$work/err" & daemon=$!
    echo "$daemon" >"$work/daemon"
    sleep "$((RANDOM % 2)).$((RANDOM % 7 + 3))"
    kill -9 "$daemon" || { wait "$daemon"; echo "the daemon ended by itself with exit code $?" >>"$work/unexpected"; }
    wait "$daemon" 2>/dev/null || true
    number=$((number + 1))
    echo "$number" >"$work/kills"
  done
) 2>/dev/null & killer=$!

each() { local n; for n in $(seq 0 $((messages - 1))); do "$@" <"$posted/$n"; done; }
make() { # name, newsgroups
  posted=$work/posted/$1-$round
  tool make "$1-$round" "$messages" "$posted" "${2:-}"
}
printf 'to "%s"\n' "$work/boxes/drop" >"$work/filter.mbox"
printf 'to "%s"\n' "$work/drop.maildir" >"$work/filter.maildir"
chmod 600 "$work"/filter.*
for round in $(seq "$rounds"); do
  if have maildrop maildrop 2>/dev/null; then
    for kind in mbox maildir; do
      make "maildrop-$kind"
      HOME=$work each maildrop -f author@h.example "$work/filter.$kind"
    done
  fi
  if have procmail procmail 2>/dev/null; then
    make procmail
    printf 'DEFAULT=%s\n' "$work/boxes/procmail" >"$work/procmailrc"
    each procmail -f author@h.example "$work/procmailrc"
  fi
  if [ -n "$postfix" ]; then
    make postfix
    tool smtp "$smtp_port" "$posted" "$user@test.invalid"
  fi
  if [ -n "$innd" ]; then
    make inn local.test,local.urls
    tool post "$news_port" "$posted"
  fi
  if [ -n "$dovecot" ]; then
    make dovecot
    each /usr/lib/dovecot/dovecot-lda -c "$dovecot" -f author@h.example -d "$user"
    # The daemon must have seen a message before it is expunged; otherwise it is not known whether its URLs must be written.
    sleep 4
    cp "$posted/posted" "$work/posted.kept"
    tool expunge "$imap_port" "$user" "$posted"
    mv "$work/posted.kept" "$posted/posted"
  fi
  tried=$round
done
[ -z "$postfix" ] || for _ in $(seq 100); do postqueue -c "$postfix" -p | grep -q 'queue is empty' && break; sleep 0.1; done
kill "$killer"; wait "$killer" 2>/dev/null || true
killer=''
kill -9 "$(cat "$work/daemon")" 2>/dev/null || true
sleep 1.5
"$program" watch --once --config "$work/c.toml" 2>"$work/err"
[ ! -s "$work/unexpected" ] || { cat "$work/unexpected" >&2; exit 1; }
cat "$work"/posted/*/posted | cut -d' ' -f2 | sort >"$work/expected"
cat "$work"/out/*.jsonl | python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["url"])' | sort >"$work/found"
[ -s "$work/expected" ] || { echo "SKIPPED: no server could be tried" >&2; exit 77; }
echo "$tried rounds, $(cat "$work/kills") kills, $(wc -l <"$work/expected") URLs posted, $(wc -l <"$work/found") written"
for line in "${skipped[@]}"; do echo "SKIPPED: $line"; done
diff "$work/expected" "$work/found" | head -20 | tee "$work/diff"
[ ! -s "$work/diff" ]

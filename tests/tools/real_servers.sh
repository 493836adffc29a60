#!/usr/bin/env bash
# Real servers and delivery agents write spools. A scan must find every posted URL once, in its
# message.
#
#   tests/tools/real_servers.sh [PROGRAM]
#
# Needs python3, and root for most servers; missing servers are reported as skipped. Takes at most
# 150 seconds. MESSAGES is the number of messages per server (12); NEWS_PORT, IMAP_PORT, SMTP_PORT
# and HTTP_PORT choose ports (default: free ones); KEEP=FOLDER keeps spools whose URLs differ. The
# exit code is 1 if URLs differ, 77 if no server could be tried.
#
# Debian: DEBIAN_FRONTEND=noninteractive apt-get install procmail maildrop postfix dovecot-imapd
# inn2 public-inbox. First make /usr/sbin/policy-rc.d say "exit 101", or the system's servers start.
# inn2 needs a host name with a domain; without one:
#   sed -i 's/^#\?domain:.*/domain: test.invalid/' /etc/news/inn.conf && dpkg --configure -a
# All servers listen only on 127.0.0.1, with private configurations and spools in a temporary
# folder.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
. "$here/servers.sh"
news_port=${NEWS_PORT:-$(free_port)} imap_port=${IMAP_PORT:-$(free_port)}
smtp_port=${SMTP_PORT:-$(free_port)} http_port=${HTTP_PORT:-$(free_port)}
messages=${MESSAGES:-12}
mapfile -t numbers < <(seq 0 $((messages - 1)))
work=$(mktemp -d)
chmod 755 "$work" # the servers run as other users
failed=0 rows=() httpd='' user=''
end() {
  stop_inn
  stop_dovecot
  [ -z "$postfix" ] || postfix -c "$postfix" stop >/dev/null 2>&1 || true
  [ -z "$httpd" ] || kill "$httpd" 2>/dev/null || true
  # Only a user created by this script, see below.
  [ -z "$user" ] || userdel "$user" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT
# A server that does not start on this machine cannot be tested here.
skip_unstarted() { skip "$1: it does not start: $(tail -n 1 "$2" 2>/dev/null)"; }
# Checks that a spool has the property under test.
must() { "$@" || { echo "the spool is not as the test needs it: $*" >&2; exit 2; }; }
tool() { python3 "$here/real_servers.py" "$@"; }

# Checks that each URL is found as often as it was posted, in its message.
compare() { # name, folder of the posted messages, spool
  local posted=$2/posted equal=yes
  "$program" scan --quiet --format urls "$3" | sort >"$work/found" || equal=no
  cut -d' ' -f2 "$posted" | sort >"$work/urls"
  diff "$work/urls" "$work/found" >"$work/diff" || equal=no
  "$program" scan --quiet "$3" | tool pairs | sort >"$work/found.pairs" || equal=no
  sort "$posted" | diff - "$work/found.pairs" >>"$work/diff" || equal=no
  # Without any URL, the comparison would prove nothing.
  [ -s "$work/urls" ] || equal=no
  if [ "$equal" = no ]; then
    failed=1
    echo "$1: posted (<) and found (>) differ" >&2
    head -20 "$work/diff" >&2
    if [ -n "${KEEP:-}" ]; then mkdir -p "$KEEP"; cp -r "$3" "$KEEP/${1//[^a-z0-9]/-}"; fi
  fi
  rows+=("$(printf '%-22s | %6d | %6d | %s' "$1" \
    "$(wc -l <"$work/urls")" "$(wc -l <"$work/found")" "$equal")")
}

if have procmail procmail; then # mboxo: `From ` becomes `>From `, and `>From ` is not changed
  tool make procmail "$messages" "$work/procmail" ''
  printf 'DEFAULT=%s\n' "$work/procmail.mbox" >"$work/procmailrc"
  for n in "${numbers[@]}"; do
    procmail -f author@h.example "$work/procmailrc" <"$work/procmail/$n"
  done
  must grep -q '^>From here' "$work/procmail.mbox"
  compare "procmail mbox" "$work/procmail" "$work/procmail.mbox"
fi

if have maildrop maildrop; then # mboxrd: `>From ` becomes `>>From `; and a Maildir
  for kind in mbox maildir; do
    tool make "maildrop-$kind" "$messages" "$work/maildrop-$kind" ''
    [ "$kind" = mbox ] || mkdir -p "$work/drop.$kind"/{new,cur,tmp}
    printf 'to "%s"\n' "$work/drop.$kind" >"$work/filter"
    chmod 600 "$work/filter" # maildrop refuses a filter that others may read
    for n in "${numbers[@]}"; do
      HOME=$work maildrop -f author@h.example "$work/filter" <"$work/maildrop-$kind/$n"
    done
    compare "maildrop $kind" "$work/maildrop-$kind" "$work/drop.$kind"
  done
  must grep -q '^>>>From everywhere' "$work/drop.mbox"
fi

# Postfix and Dovecot deliver to a system user, created here so that no real mail is touched.
if [ "$(id -u)" = 0 ] && useradd -d "$work/home" -m -s /bin/sh "urlspool-$$"; then
  user=urlspool-$$
fi

if have_root postfix && have postfix postfix postconf; then
  if [ -z "$user" ]; then skip "postfix: a user cannot be made"; else
    for kind in mbox maildir; do
      d=$work/postfix-$kind
      spool=$d/mail/$user line=''
      [ "$kind" = mbox ] || spool=$work/home/Maildir line='home_mailbox = Maildir/'
      start_postfix "$d" "$line" || { skip_unstarted "postfix $kind" "$d/maillog"; continue; }
      tool make "postfix-$kind" "$messages" "$d/posted" ''
      tool smtp "$smtp_port" "$d/posted" "$user@test.invalid"
      # Delivery is complete when the queue is empty.
      for _ in $(seq 100); do
        postqueue -c "$postfix" -p | grep -q 'queue is empty' && break
        sleep 0.1
      done
      postfix -c "$postfix" stop >/dev/null 2>&1
      postfix=''
      wait_until_closed "$smtp_port"
      compare "postfix $kind" "$d/posted" "$spool"
    done
  fi
fi

if have_root inn && { [ -x "$bin/innd" ] || { skip "inn: inn2 is not installed"; false; }; }; then
  for wire in true false; do
    if ! start_inn "$wire"; then
      skip_unstarted "inn wireformat=$wire" "$work/inn/log/out"
      stop_inn
      continue
    fi
    tool make "inn-$wire" "$messages" "$work/posted-inn-$wire" local.test,local.urls
    tool post "$news_port" "$work/posted-inn-$wire"
    # More articles arrive as a batch, as from another server.
    tool make "rnews-$wire" "$messages" "$work/posted-rnews-$wire" local.test,local.urls
    tool batch "$work/posted-rnews-$wire" >"$work/batch-$wire"
    chmod 644 "$work/batch-$wire"
    as_news rnews -S 127.0.0.1 <"$work/batch-$wire"
    stop_inn
    wait_until_closed "$news_port"
    mkdir "$work/posted-$wire"
    cat "$work/posted-"{inn,rnews}"-$wire/posted" >"$work/posted-$wire/posted"
    # Cross-posts are hard links. In wire format, lines end with CRLF and dots are doubled.
    spool=$work/inn/spool/articles
    must test -n "$(find "$spool" -type f -links +1)"
    must test "$wire" = "$(grep -rq $'\r$' "$spool" && echo true || echo false)"
    must test "$wire" = "$(grep -rq '^\.\.html>' "$spool" && echo true || echo false)"
    compare "inn wireformat=$wire" "$work/posted-$wire" "$spool"
    [ "$wire" = false ] || compare "rnews batch" "$work/posted-rnews-$wire" "$work/batch-$wire"
  done
fi

# mboxcl2: `From ` lines are not quoted, Content-Length is the length.
if have_root dovecot && have dovecot dovecot doveadm "$lda"; then
  if [ -z "$user" ]; then skip "dovecot: a user cannot be made"; else
    d=$work/dovecot
    mkdir -p "$d/mail"
    chown "$user" "$d/mail"
    start_dovecot "$d" "mbox:$d/mail/folders:INBOX=$d/mail/inbox" "$d/mail" || true
  fi
  if [ -n "$dovecot" ] && ! wait_until_open "$imap_port"; then
    skip_unstarted dovecot "$d/log"
  elif [ -n "$dovecot" ]; then
    tool make dovecot "$messages" "$d/posted" ''
    for n in "${numbers[@]}"; do deliver_by_dovecot "$d/posted/$n"; done
    must grep -q '^Content-Length:' "$d/mail/inbox"
    compare "dovecot-lda mbox" "$d/posted" "$d/mail/inbox"
    # EXPUNGE rewrites the file in place: the remaining messages move forward.
    before=$(stat -c %i:%s "$d/mail/inbox")
    tool expunge "$imap_port" "$user" "$d/posted"
    must test "$before" != "$(stat -c %i:%s "$d/mail/inbox")"
    must grep -q '^From someone@other.example' "$d/mail/inbox"
    compare "dovecot after EXPUNGE" "$d/posted" "$d/mail/inbox"
    stop_dovecot
    wait_until_closed "$imap_port"
  fi
fi

# mboxrd over HTTP, compressed; messages in git.
if have public-inbox git public-inbox-init public-inbox-mda public-inbox-httpd; then
  d=$work/public-inbox
  mkdir -p "$d/home" "$d/emergency" "$d/messages"
  as_inbox=(env HOME="$d/home" PI_CONFIG="$d/config" PI_EMERGENCY="$d/emergency"
    GIT_CONFIG_NOSYSTEM=1 ORIGINAL_RECIPIENT=list@test.invalid)
  "${as_inbox[@]}" public-inbox-init -V2 -L basic list "$d/list" \
    "http://127.0.0.1:$http_port/list" list@test.invalid >"$d/log" 2>&1
  "${as_inbox[@]}" git config -f "$d/config" publicinboxmda.spamcheck none
  tool make public-inbox "$messages" "$d/posted" ''
  for n in "${numbers[@]}"; do
    "${as_inbox[@]}" public-inbox-mda --no-precheck <"$d/posted/$n" >>"$d/log" 2>&1
  done
  n=0
  for commit in $(git -C "$d/list/git/0.git" rev-list --reverse --all); do
    n=$((n + 1))
    git -C "$d/list/git/0.git" show "$commit:m" >"$d/messages/$n"
  done
  compare "public-inbox git" "$d/posted" "$d/messages"
  "${as_inbox[@]}" public-inbox-httpd -W0 -l "http://127.0.0.1:$http_port" >>"$d/log" 2>&1 &
  httpd=$!
  if ! wait_until_open "$http_port"; then skip_unstarted "public-inbox-httpd" "$d/log"; else
    tool fetch "http://127.0.0.1:$http_port/list/all.mbox.gz" "$d/all.mbox.gz"
    must test -n "$(zcat "$d/all.mbox.gz" | grep '^>>>From everywhere')"
    # Version 1.9 repeats the first message at the end.
    tool repeated "$d/posted" "$d/all.mbox.gz"
    compare "public-inbox mboxrd.gz" "$d/posted" "$d/all.mbox.gz"
  fi
  kill "$httpd" 2>/dev/null || true
  wait "$httpd" || true
  httpd=''
fi

printf '%-22s | %6s | %6s | %s\n' server posted found equal
[ "${#rows[@]}" = 0 ] || printf '%s\n' "${rows[@]}"
for line in "${skipped[@]}"; do echo "SKIPPED: $line"; done
# A run without any test did not pass.
[ "${#rows[@]}" != 0 ] || { echo "SKIPPED: no server could be tried" >&2; exit 77; }
exit "$failed"

#!/usr/bin/env bash
# Real servers and delivery agents write spools. A scan of the spools must find every URL that was posted, once, in its message.
#
#   tests/tools/real_servers.sh [PROGRAM]
#
# Needs python3, and root for most servers; a server that is not installed is reported as skipped. Takes at most 150 seconds. MESSAGES
# is the number of messages for each server (12); NEWS_PORT, IMAP_PORT, SMTP_PORT and HTTP_PORT choose ports (default: free ones);
# KEEP=FOLDER keeps spools whose URLs differ. The exit code is 1 if URLs differ, 77 if no server could be tried.
#
# Debian: DEBIAN_FRONTEND=noninteractive apt-get install procmail maildrop postfix dovecot-imapd inn2 public-inbox, after making
# /usr/sbin/policy-rc.d say "exit 101", or the servers of the system start. inn2 needs a host name with a domain; without one:
#   sed -i 's/^#\?domain:.*/domain: test.invalid/' /etc/news/inn.conf && dpkg --configure -a
# Everything listens on 127.0.0.1 only, with private configurations and spools in a temporary folder.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
news_port=${NEWS_PORT:-$(free_port)} imap_port=${IMAP_PORT:-$(free_port)}
smtp_port=${SMTP_PORT:-$(free_port)} http_port=${HTTP_PORT:-$(free_port)}
messages=${MESSAGES:-12}
work=$(mktemp -d)
chmod 755 "$work" # the servers run as other users
failed=0 rows=() skipped=() innd='' dovecot='' postfix='' httpd='' user=''
bin=/usr/lib/news/bin

as_news() { setpriv --reuid=news --regid=news --clear-groups env HOME="$work" INNCONF="$work/inn/etc/inn.conf" PATH="$bin:$PATH" "$@"; }
stop_inn() {
  [ -n "$innd" ] || return 0
  as_news ctlinnd -s shutdown done >/dev/null 2>&1 || kill "$innd" 2>/dev/null || true
  wait "$innd" 2>/dev/null || true
  innd=''
}
end() {
  stop_inn
  [ -z "$dovecot" ] || doveadm -c "$dovecot" stop 2>/dev/null || true
  [ -z "$postfix" ] || postfix -c "$postfix" stop >/dev/null 2>&1 || true
  [ -z "$httpd" ] || kill "$httpd" 2>/dev/null || true
  # Only a user that this script made, see below.
  [ -z "$user" ] || userdel "$user" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT
skip() { echo "SKIPPED: $*" >&2; skipped+=("$*"); }
# The first argument is the name of the test.
have() { local p; for p in "${@:2}"; do command -v "$p" >/dev/null || { skip "$1: $p is not installed"; return 1; }; done; }
have_root() { [ "$(id -u)" = 0 ] || { skip "$1: needs root"; return 1; }; }
# A server that does not start on this machine cannot be tested here.
skip_unstarted() { skip "$1: it does not start: $(tail -n 1 "$2" 2>/dev/null)"; }
# Checks that a spool has the property that the test is about.
must() { "$@" || { echo "the spool is not as the test needs it: $*" >&2; exit 2; }; }
wait_until_open() { local i; for i in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0; sleep 0.1; done; echo "no server listens on port $1" >&2; return 1; }
wait_until_closed() { local i; for i in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0; sleep 0.1; done; echo "port $1 is still open" >&2; return 1; }

cat >"$work/tool.py" <<'PY'
import base64, imaplib, json, os, quopri, smtplib, socket, sys

def make(tag, count, folder, groups):
    """Writes messages folder/N, and folder/posted: a line with Message-ID and URL for each URL in them."""
    os.makedirs(folder)
    with open(f"{folder}/posted", "w") as posted:
        for n in range(int(count)):
            u = f"http://h.example/{tag}/{n}"
            # Text that writers change or that readers misread: `From ` lines that look like separators or not, with and
            # without a header after them, and lines that begin with dots, alone and inside a broken URL.
            body = f"""Plain {u}/plain and wrapped <URL:{u}/wrapped>.
From here on {u}/from
>From there {u}/quoted-from
>>From everywhere {u}/quoted-twice

From someone@other.example Thu Jan  4 12:00:00 1996
Subject: not a message {u}/separator

Broken <URL:{u}/bro
ken> and before a dot <URL:{u}/page
.html> and before two <URL:{u}/up/
../dots>.
.
..
.{u}/dot
..{u}/two-dots

. {u}/dot-space
Long: <URL:{u}/{'long/' * 20}end>
From the end {u}/last
"""
            paths = ["plain", "wrapped", "from", "quoted-from", "quoted-twice", "separator", "broken", "page.html", "up/../dots",
                     "dot", "two-dots", "dot-space", "long/" * 20 + "end", "last"]
            encoding = ["7bit", "quoted-printable", "base64"][n % 3]
            if encoding == "quoted-printable":
                body = quopri.encodestring(body.encode()).decode()
            if encoding == "base64":
                body = base64.encodebytes(body.encode()).decode()
            head = ["From: Author <author@h.example>", f"Subject: {tag} {n}", f"Message-ID: <{tag}.{n}@h.example>",
                    "MIME-Version: 1.0", "Content-Type: text/plain; charset=us-ascii", f"Content-Transfer-Encoding: {encoding}"]
            if groups:
                # Every second article is cross-posted.
                head += ["Newsgroups: " + (groups if n % 2 else groups.split(",")[0])]
            else:
                head += ["To: reader@test.invalid", "Date: Thu, 04 Jan 1996 12:00:00 +0000"]
            with open(f"{folder}/{n}", "w") as f:
                f.write("\n".join(head) + "\n\n" + body)
            for path in paths:
                posted.write(f"<{tag}.{n}@h.example> {u}/{path}\n")

def files(folder):
    return [f"{folder}/{name}" for name in sorted((n for n in os.listdir(folder) if n.isdigit()), key=int)]

def post(port, folder):
    """Posts by NNTP, as a newsreader does."""
    with socket.create_connection(("127.0.0.1", int(port))) as s:
        f = s.makefile("rwb")
        def send(data, code):
            f.write(data)
            f.flush()
            answer = f.readline().decode()
            assert answer.startswith(code), answer
        send(b"", "20")
        send(b"MODE READER\r\n", "20")
        for name in files(folder):
            send(b"POST\r\n", "340")
            lines = open(name, "rb").read().split(b"\n")[:-1]
            send(b"".join((b"." if l.startswith(b".") else b"") + l + b"\r\n" for l in lines) + b".\r\n", "240")
        send(b"QUIT\r\n", "205")

def batch(folder):
    """Writes an rnews batch to standard output, as one server sends it to another, with Path and Date."""
    import email.utils
    for name in files(folder):
        article = f"Path: far.example!not-for-mail\nDate: {email.utils.formatdate()}\n".encode() + open(name, "rb").read()
        sys.stdout.buffer.write(b"#! rnews %d\n" % len(article) + article)

def smtp(port, folder, to):
    with smtplib.SMTP("127.0.0.1", int(port)) as s:
        for name in files(folder):
            s.sendmail("author@h.example", [to], open(name, "rb").read())

def expunge(port, user, folder):
    """Removes every third message, as a client does, and its URLs from `posted`."""
    with imaplib.IMAP4("127.0.0.1", int(port)) as i:
        i.login(user, "pw")
        i.select("INBOX")
        removed = set()
        for n in i.search(None, "ALL")[1][0].split()[::3]:
            removed.add(i.fetch(n, "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])")[1][0][1].decode().split()[1])
            i.store(n, "+FLAGS", r"(\Deleted)")
        assert removed
        i.expunge()
        i.close()
    left = [l for l in open(f"{folder}/posted") if l.split()[0] not in removed]
    open(f"{folder}/posted", "w").writelines(left)

def fetch(url, name):
    import urllib.request
    with urllib.request.urlopen(url, timeout=30) as answer, open(name, "wb") as f:
        f.write(answer.read())

def repeated(folder, mbox):
    """Repeats the lines of `posted` as often as a compressed mbox has each message. It must have all of them."""
    import collections, gzip
    counts = collections.Counter(l.split()[1].decode() for l in gzip.open(mbox) if l.startswith(b"Message-ID: "))
    lines = list(open(f"{folder}/posted"))
    assert counts and set(counts) == {l.split()[0] for l in lines}, counts
    open(f"{folder}/posted", "w").writelines(l for l in lines for _ in range(counts[l.split()[0]]))

def pairs():
    """Prints the Message-ID and URL of each record on standard input."""
    for line in sys.stdin:
        record = json.loads(line)
        print(record["message"]["id"], record["url"])

globals()[sys.argv[1]](*sys.argv[2:])
PY
tool() { python3 "$work/tool.py" "$@"; }

compare() { # name, folder of the posted messages, spool: checks that each URL is found as often as posted, in its message
  local posted=$2/posted equal=yes
  "$program" scan --quiet --format urls "$3" | sort >"$work/found" || equal=no
  cut -d' ' -f2 "$posted" | sort >"$work/urls"
  diff "$work/urls" "$work/found" >"$work/diff" || equal=no
  "$program" scan --quiet "$3" | tool pairs | sort >"$work/found.pairs" || equal=no
  sort "$posted" | diff - "$work/found.pairs" >>"$work/diff" || equal=no
  # Without any URL the comparison would prove nothing.
  [ -s "$work/urls" ] || equal=no
  if [ "$equal" = no ]; then
    failed=1
    echo "$1: posted (<) and found (>) differ" >&2
    head -20 "$work/diff" >&2
    if [ -n "${KEEP:-}" ]; then mkdir -p "$KEEP"; cp -r "$3" "$KEEP/${1//[^a-z0-9]/-}"; fi
  fi
  rows+=("$(printf '%-22s | %6d | %6d | %s' "$1" "$(wc -l <"$work/urls")" "$(wc -l <"$work/found")" "$equal")")
}

if have procmail procmail; then # mboxo: `From ` becomes `>From `, and `>From ` is not changed
  tool make procmail "$messages" "$work/procmail" ''
  printf 'DEFAULT=%s\n' "$work/procmail.mbox" >"$work/procmailrc"
  for n in $(seq 0 $((messages - 1))); do procmail -f author@h.example "$work/procmailrc" <"$work/procmail/$n"; done
  must grep -q '^>From here' "$work/procmail.mbox"
  compare "procmail mbox" "$work/procmail" "$work/procmail.mbox"
fi

if have maildrop maildrop; then # mboxrd: `>From ` becomes `>>From `; and a Maildir
  for kind in mbox maildir; do
    tool make "maildrop-$kind" "$messages" "$work/maildrop-$kind" ''
    [ "$kind" = mbox ] || mkdir -p "$work/drop.$kind"/{new,cur,tmp}
    printf 'to "%s"\n' "$work/drop.$kind" >"$work/filter"
    chmod 600 "$work/filter" # maildrop refuses a filter that others may read
    for n in $(seq 0 $((messages - 1))); do HOME=$work maildrop -f author@h.example "$work/filter" <"$work/maildrop-$kind/$n"; done
    compare "maildrop $kind" "$work/maildrop-$kind" "$work/drop.$kind"
  done
  must grep -q '^>>>From everywhere' "$work/drop.mbox"
fi

# Postfix and Dovecot deliver to a user of the system. The script makes one, so that no real mail is touched.
if [ "$(id -u)" = 0 ] && useradd --home-dir "$work/home" --create-home --shell /bin/sh "urlspool-$$"; then
  user=urlspool-$$
fi

start_postfix() { # folder, line of main.cf
  local d=$1
  mkdir -p "$d"/{conf,queue,data,mail}
  chmod 1777 "$d/mail"
  cp -r /etc/postfix/postfix-files /etc/postfix/postfix-files.d /etc/postfix/dynamicmaps.cf "$d/conf/"
  cat >"$d/conf/main.cf" <<CONF
compatibility_level = 3.6
queue_directory = $d/queue
data_directory = $d/data
maillog_file = $d/maillog
maillog_file_prefixes = $d
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.test.invalid
mydestination = test.invalid
mynetworks = 127.0.0.0/8
alias_maps =
alias_database =
local_recipient_maps = unix:passwd.byname
mailbox_delivery_lock = fcntl, dotlock
mail_spool_directory = $d/mail
default_transport = error:no outside mail
relay_transport = error:no outside mail
$2
CONF
  sed -e "s/^smtp  *inet .*/127.0.0.1:$smtp_port inet n - n - - smtpd/" /usr/share/postfix/master.cf.dist >"$d/conf/master.cf"
  postconf -c "$d/conf" -F '*/*/chroot=n'
  chown -R postfix "$d/data"
  postfix -c "$d/conf" start >/dev/null 2>&1
  postfix=$d/conf
  wait_until_open "$smtp_port"
}
if have_root postfix && have postfix postfix postconf; then
  if [ -z "$user" ]; then skip "postfix: a user cannot be made"; else
    for kind in mbox maildir; do
      d=$work/postfix-$kind
      start_postfix "$d" "$([ "$kind" = mbox ] || echo 'home_mailbox = Maildir/')" || { skip_unstarted "postfix $kind" "$d/maillog"; continue; }
      spool=$d/mail/$user
      [ "$kind" = mbox ] || spool=$work/home/Maildir
      tool make "postfix-$kind" "$messages" "$d/posted" ''
      tool smtp "$smtp_port" "$d/posted" "$user@test.invalid"
      # Delivered when the queue is empty.
      for _ in $(seq 100); do postqueue -c "$postfix" -p | grep -q 'queue is empty' && break; sleep 0.1; done
      postfix -c "$postfix" stop >/dev/null 2>&1
      postfix=''
      wait_until_closed "$smtp_port"
      compare "postfix $kind" "$d/posted" "$spool"
    done
  fi
fi

start_inn() { # wireformat
  local d=$work/inn
  rm -rf "$d"
  mkdir -p "$d"/{etc,db,run,log,tmp} "$d"/spool/{articles,overview,incoming/bad,incoming/tmp,outgoing,archive,innfeed}
  cp -r /etc/news/. "$d/etc/"
  # In inn.conf the first of two equal keys counts, so the old ones are removed.
  sed -i -E '/^#?(domain|pathhost|port|nnrpdpostport|wireformat|path(etc|db|spool|articles|overview|incoming|outgoing|archive|run|log|tmp)|bindaddress6?|doinnwatch):/d' "$d/etc/inn.conf"
  cat >>"$d/etc/inn.conf" <<CONF
domain: test.invalid
pathhost: news.test.invalid
port: $news_port
nnrpdpostport: $news_port
wireformat: $1
doinnwatch: false
pathetc: $d/etc
pathdb: $d/db
pathspool: $d/spool
pathrun: $d/run
pathlog: $d/log
pathtmp: $d/tmp
CONF
  # No feeds: no article is sent to other servers.
  printf 'ME:*::\n' >"$d/etc/newsfeeds"
  # innd overwrites the numbers in place, so they need their full width.
  printf '%s 0000000000 0000000001 %s\n' control n control.cancel n junk n local.test y local.urls y >"$d/db/active"
  : >"$d/db/newsgroups"
  : >"$d/db/active.times"
  chown -R news:news "$d"
  (cd "$d/db" && as_news touch history && as_news makedbz -i -o) >"$d/log/makedbz" 2>&1
  as_news innd -f -P "$news_port" -4 127.0.0.1 -6 ::1 >"$d/log/out" 2>&1 &
  innd=$!
  wait_until_open "$news_port"
}
if have_root inn && { [ -x "$bin/innd" ] || { skip "inn: inn2 is not installed"; false; }; }; then
  for wire in true false; do
    start_inn "$wire" || { skip_unstarted "inn wireformat=$wire" "$work/inn/log/out"; stop_inn; continue; }
    tool make "inn-$wire" "$messages" "$work/posted-inn-$wire" local.test,local.urls
    tool post "$news_port" "$work/posted-inn-$wire"
    # More articles come as a batch, as from another server.
    tool make "rnews-$wire" "$messages" "$work/posted-rnews-$wire" local.test,local.urls
    tool batch "$work/posted-rnews-$wire" >"$work/batch-$wire"
    chmod 644 "$work/batch-$wire"
    as_news rnews -S 127.0.0.1 <"$work/batch-$wire"
    stop_inn
    wait_until_closed "$news_port"
    mkdir "$work/posted-$wire"
    cat "$work/posted-inn-$wire/posted" "$work/posted-rnews-$wire/posted" >"$work/posted-$wire/posted"
    # Cross-posts are hard links; in wire format lines end with CRLF and dots are doubled.
    spool=$work/inn/spool/articles
    must test -n "$(find "$spool" -type f -links +1)"
    must test "$wire" = "$(grep -rq $'\r$' "$spool" && echo true || echo false)"
    must test "$wire" = "$(grep -rq '^\.\.html>' "$spool" && echo true || echo false)"
    compare "inn wireformat=$wire" "$work/posted-$wire" "$spool"
    [ "$wire" = false ] || compare "rnews batch" "$work/posted-rnews-$wire" "$work/batch-$wire"
  done
fi

if have_root dovecot && have dovecot dovecot doveadm; then # mboxcl2: `From ` lines are not quoted, Content-Length gives the length
  lda=/usr/lib/dovecot/dovecot-lda
  if [ ! -x "$lda" ]; then skip "dovecot: $lda is not installed"; elif [ -z "$user" ]; then skip "dovecot: a user cannot be made"; else
    d=$work/dovecot
    mkdir -p "$d/mail" "$d/run"
    chown "$user" "$d/mail"
    cat >"$d/dovecot.conf" <<CONF
protocols = imap
mail_location = mbox:$d/mail/folders:INBOX=$d/mail/inbox
base_dir = $d/run
log_path = $d/log
first_valid_uid = 100
mbox_write_locks = dotlock fcntl
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain
passdb {
  driver = static
  args = password=pw
}
userdb {
  driver = static
  args = uid=$user gid=$user home=$d/mail
}
service imap-login {
  inet_listener imap {
    port = $imap_port
  }
  inet_listener imaps {
    port = 0
  }
}
CONF
    dovecot -c "$d/dovecot.conf" || true
    dovecot=$d/dovecot.conf
  fi
  if [ -n "$dovecot" ] && ! wait_until_open "$imap_port"; then skip_unstarted dovecot "$d/log"; elif [ -n "$dovecot" ]; then
    tool make dovecot "$messages" "$d/posted" ''
    for n in $(seq 0 $((messages - 1))); do "$lda" -c "$dovecot" -f author@h.example -d "$user" <"$d/posted/$n"; done
    must grep -q '^Content-Length:' "$d/mail/inbox"
    compare "dovecot-lda mbox" "$d/posted" "$d/mail/inbox"
    # EXPUNGE rewrites the file in place: the remaining messages move forward.
    before=$(stat -c %i:%s "$d/mail/inbox")
    tool expunge "$imap_port" "$user" "$d/posted"
    must test "$before" != "$(stat -c %i:%s "$d/mail/inbox")"
    must grep -q '^From someone@other.example' "$d/mail/inbox"
    compare "dovecot after EXPUNGE" "$d/posted" "$d/mail/inbox"
    doveadm -c "$dovecot" stop
    dovecot=''
    wait_until_closed "$imap_port"
  fi
fi

if have public-inbox git public-inbox-init public-inbox-mda public-inbox-httpd; then # mboxrd over HTTP, compressed; messages in git
  d=$work/public-inbox
  mkdir -p "$d/home" "$d/emergency" "$d/messages"
  as_inbox=(env HOME="$d/home" PI_CONFIG="$d/config" PI_EMERGENCY="$d/emergency" GIT_CONFIG_NOSYSTEM=1 ORIGINAL_RECIPIENT=list@test.invalid)
  "${as_inbox[@]}" public-inbox-init -V2 -L basic list "$d/list" "http://127.0.0.1:$http_port/list" list@test.invalid >"$d/log" 2>&1
  "${as_inbox[@]}" git config -f "$d/config" publicinboxmda.spamcheck none
  tool make public-inbox "$messages" "$d/posted" ''
  for n in $(seq 0 $((messages - 1))); do "${as_inbox[@]}" public-inbox-mda --no-precheck <"$d/posted/$n" >>"$d/log" 2>&1; done
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
# A run that tried nothing did not pass.
[ "${#rows[@]}" != 0 ] || { echo "SKIPPED: no server could be tried" >&2; exit 77; }
exit "$failed"

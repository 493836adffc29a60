# Functions of the checks with real servers, for `real_servers.sh` and `real_gone.sh`.
#
# Everything listens on 127.0.0.1 only. The script sets `work`, a folder that other users may enter,
# `user`, to whom mail is delivered, and the ports; `innd`, `postfix` and `dovecot` are set while
# these servers run.
# shellcheck shell=bash disable=SC2034,SC2154
bin=/usr/lib/news/bin lda=/usr/lib/dovecot/dovecot-lda
skipped=() innd='' postfix='' dovecot=''

free_port() { (cd "$here" && python3 -Bc 'import world; print(world.free_port())'); }

skip() { echo "SKIPPED: $*" >&2; skipped+=("$*"); }
# The first argument is the name of the test.
have() {
  local p
  for p in "${@:2}"; do
    command -v "$p" >/dev/null || { skip "$1: $p is not installed"; return 1; }
  done
}
have_root() { [ "$(id -u)" = 0 ] || { skip "$1: needs root"; return 1; }; }
is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
is_closed() { ! is_open "$1"; }
# Waits up to ten seconds.
wait_until() { # is_open or is_closed, port
  local i
  for i in $(seq 100); do "$1" "$2" && return; sleep 0.1; done
  echo "port $2: not $1 after ten seconds" >&2
  return 1
}
wait_until_open() { wait_until is_open "$1"; }
wait_until_closed() { wait_until is_closed "$1"; }

as_news() {
  setpriv --reuid=news --regid=news --clear-groups env HOME="$work" \
    INNCONF="$work/inn/etc/inn.conf" PATH="$bin:$PATH" "$@"
}
stop_inn() {
  [ -n "$innd" ] || return 0
  as_news ctlinnd -s shutdown done >/dev/null 2>&1 || kill "$innd" 2>/dev/null || true
  wait "$innd" 2>/dev/null || true
  innd=''
}

start_inn() { # wireformat
  local d=$work/inn
  rm -rf "$d"
  mkdir -p "$d"/{etc,db,run,log,tmp} "$d"/spool/{articles,overview,outgoing,archive,innfeed} \
    "$d"/spool/incoming/{bad,tmp}
  cp -r /etc/news/. "$d/etc/"
  # In inn.conf the first of two equal keys counts, so the old ones are removed. Without a limit of
  # 0, INN refuses readers on a busy machine.
  local paths='host|etc|db|spool|articles|overview|incoming|outgoing|archive|run|log|tmp'
  local keys='domain|port|nnrpdpostport|wireformat|bindaddress6?|doinnwatch|nnrpdloadlimit'
  sed -i -E "/^#?($keys|path($paths)):/d" "$d/etc/inn.conf"
  cat >>"$d/etc/inn.conf" <<CONF
domain: test.invalid
pathhost: news.test.invalid
port: $news_port
nnrpdpostport: $news_port
wireformat: $1
doinnwatch: false
nnrpdloadlimit: 0
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
  printf '%s 0000000000 0000000001 %s\n' control n control.cancel n junk n local.test y \
    local.urls y >"$d/db/active"
  : >"$d/db/newsgroups"
  : >"$d/db/active.times"
  chown -R news:news "$d"
  (cd "$d/db" && as_news touch history && as_news makedbz -i -o) >"$d/log/makedbz" 2>&1
  as_news innd -f -P "$news_port" -4 127.0.0.1 -6 ::1 >"$d/log/out" 2>&1 &
  innd=$!
  wait_until_open "$news_port"
}

start_postfix() { # folder, line of main.cf
  local d=$1
  mkdir -p "$d"/{conf,queue,data,mail}
  chmod 1777 "$d/mail"
  cp -r /etc/postfix/{postfix-files,postfix-files.d,dynamicmaps.cf} "$d/conf/"
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
  sed "s/^smtp  *inet .*/127.0.0.1:$smtp_port inet n - n - - smtpd/" \
    /usr/share/postfix/master.cf.dist >"$d/conf/master.cf"
  postconf -c "$d/conf" -F '*/*/chroot=n'
  chown -R postfix "$d/data"
  postfix -c "$d/conf" start >/dev/null 2>&1
  postfix=$d/conf
  wait_until_open "$smtp_port"
}

# Starts Dovecot for the user `user` in a folder.
start_dovecot() { # folder, mail_location, the user's home
  local d=$1 location=$2 home=$3
  mkdir -p "$d/run"
  cat >"$d/dovecot.conf" <<CONF
protocols = imap
mail_location = $location
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
  args = uid=$user gid=$user home=$home
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
  dovecot=$d/dovecot.conf
  dovecot -c "$dovecot"
}

deliver_by_dovecot() { "$lda" -c "$dovecot" -f author@h.example -d "$user" <"$1"; }

stop_dovecot() {
  [ -z "$dovecot" ] || doveadm -c "$dovecot" stop 2>/dev/null || true
  dovecot=''
}

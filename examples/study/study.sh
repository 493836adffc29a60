#!/bin/sh
# Measures the link rot of a mail archive, and writes the results as a BagIt bag.
#
# usage: CONTACT=you@your.site study.sh FOLDER BAG [DATABASE]
#
# FOLDER has the mailboxes, BAG is a new folder, and DATABASE (BAG.db by default) keeps the state.
# With the DATABASE of an earlier run, only what is due is checked, so a death can be confirmed days
# later. A run that was interrupted continues.
#
# URLSPOOL  the program ("urlspool")
# CDX       CDX servers of the archives to ask ("https://web.archive.org/cdx/search/cdx")
# RATE      requests to an archive per minute (20)
# SAMPLE    number of links to check, stratified by year (all)
# ALLOW     private hosts that may be contacted (none)
set -euf

if [ $# -lt 2 ] || [ $# -gt 3 ] || [ -z "${CONTACT:-}" ]; then
  sed -n '/^# usage/s/^# //p' "$0" >&2
  exit 2
fi
folder=$1 bag=${2%/}
database=${3:-$bag.db}
if [ -e "$bag" ]; then
  echo "$0: $bag exists; name a new folder" >&2
  exit 2
fi
urlspool=${URLSPOOL:-urlspool}
allow='' cdx=''
for host in ${ALLOW:-}; do allow="$allow --allow-private $host"; done
for server in ${CDX:-https://web.archive.org/cdx/search/cdx}; do cdx="$cdx --cdx $server"; done

# Runs a step. Exit code 1 means that something was damaged or got no answer: the next run asks
# again, and the report counts it.
step() {
  code=0
  "$urlspool" "$@" || code=$?
  [ "$code" -le 1 ] || exit "$code"
}

# Broken URLs are joined if they occur whole elsewhere in the archive.
step scan -q --evidence self --into "$database" -- "$folder"
# Unquoted: options and their values, which are no patterns (set -f).
# shellcheck disable=SC2086
{
  step audit plan -q "$database" --contact "$CONTACT" $allow \
    ${SAMPLE:+--sample $SAMPLE --by year}
  step audit check -q "$database"
  step audit archive -q "$database" --rate "${RATE:-20}" $cdx
}
# Without the names of people.
step audit report "$database" --no-senders --format bag -o "$bag"

#!/bin/sh
# Speaks the JSON of lychee, and asks no server. The last letters of a URL say what it answers.
# Arguments and proxy are appended to the file fake.log beside this script.
if [ "$1" = --version ]; then
    echo "fake 1.0"
    exit 0
fi
folder=${0%/*}
echo "$* $http_proxy $https_proxy $ALL_PROXY" >> "$folder/fake.log"
if [ -e "$folder/fail" ]; then
    echo "no such option$(cat "$folder/fail")" >&2
    exit 3
fi
if [ -e "$folder/hang" ]; then
    echo "hanging $$" >> "$folder/fake.log"
    exec sleep 600
fi
for file; do :; done
urls() {
    sed -n 's/^<a href="\([^"]*\)">.*/\1/p' "$file" | sed 's/&lt;/</g; s/&quot;/"/g; s/&amp;/\&/g'
}
# Prints the answers with a status, for the URLs that end with one of the letters.
answers() {
    letters=$1
    status=$2
    comma=
    urls | grep "[$letters]\$" | while read -r url; do
        printf '%s{"url":"%s","status":%s' "$comma" "$url" "$status"
        [ "$letters" = m ] && printf ',"redirects":{"origin":"%s","redirects":[{"url":"http://www.w3.org/a","code":301}]}' "$url"
        printf '}'
        comma=,
    done
}
# The file down holds a number of runs, after which nothing answers in time.
if [ -e "$folder/down" ] && [ "$(wc -l < "$folder/fake.log")" -gt "$(cat "$folder/down")" ]; then
    echo "{\"success_map\":{},\"error_map\":{},\"excluded_map\":{},\"timeout_map\":{\"t\":[$(answers '[:alnum:]' '{"text":"Timeout"}')]}}"
    exit 2
fi
if [ -e "$folder/mute" ]; then
    printf 'a warning\nlost the answers\n\n' >&2
    echo '{"success_map":{},"error_map":{},"excluded_map":{}}'
    exit 0
fi
# a: alive, m: moved; d: dead; n: no connection; t: timeout; x: excluded; s: silence; u: an answer for another URL.
cat <<END
{"success_map":{"l":[$(answers a '{"text":"200 OK","code":200}')],
  "m":[$(answers m '{"text":"200 OK","code":200}')]},
 "error_map":{"d":[$(answers d '{"text":"Rejected","code":404}')],
  "n":[$(answers n '{"text":"Network error: Connection refused - x"}')],
  "u":[$(urls | grep -q 'u$' && echo '{"url":"http://nobody.cern.ch/","status":{"text":"x","code":404}}')]},
 "timeout_map":{"t":[$(answers t '{"text":"Timeout"}')]},
 "excluded_map":{"x":[$(answers x '{"text":"Excluded"}')]}}
END
exit 2

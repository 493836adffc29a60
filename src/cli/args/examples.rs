//! The texts after the options: examples, exit codes, environment, files. Blocks with a title; the
//! manual makes a section of each.

pub(super) const PROGRAM: &str = "Exit codes:
  0  done
  1  done, but some input could not be read (`parse --check`: some URL was rejected;
     `load`, `stats`: a line is no record; `audit import`: a result is refused;
     `audit archive`: a URL has no answer; `audit save`: a URL was not captured)
  2  the arguments or the configuration cannot be used
 69  `status`: no daemon answers; `load`: the server cannot be reached;
     `audit check`: no server replies;
     `audit archive`: the server cannot be reached, refuses, or is no CDX server;
     `audit save`: the service cannot be reached, refuses, or has its limit
 74  the output, the state or the database cannot be written
 75  `watch`: another instance is running with the same state;
     `load`, `audit`: another program is writing to the database
 78  `watch`: the state and the output contradict each other;
     `load`: a segment contradicts its sidecar or the database;
     `load`, `audit`: the database is damaged
130  interrupted

Environment:
  URLSPOOL_CONFIG  the configuration file, if `--config` does not name one
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM
                   the use of colours, if `--color` is `auto`

Files:
  ~/.config/urlspool/urlspool.toml, /etc/urlspool/urlspool.toml
                   the configuration of `watch`, `status` and `check-config`; `scan` does not read it

Examples:
  urlspool stats ~/Mail
  urlspool scan ~/Mail > urls.jsonl
  urlspool scan --help
  urlspool man scan";

pub(super) const SCAN: &str = "Exit codes:
  0  done
  1  done, but some input could not be read, or is of a format that is not read; with --strict: there was any event
  2  the arguments cannot be used, or an output would overwrite a file that urlspool did not write
 69  --into: the server cannot be reached
 74  an output or the database cannot be written
 75  --into: another program is writing to the database
 78  --into: the database is damaged
130  interrupted

Examples:
  urlspool scan ~/Mail > urls.jsonl
  urlspool scan --into urls.db ~/Mail
  urlspool scan --into urls.db --replace ~/Mail       again later: also removes the rows of mail that is gone
  urlspool scan --format urls --unique run archive.mbox | lychee -
  urlspool scan list.mbox.gz news.tar.bz2 takeout.zip
  tail -F inbox | urlspool scan -                  each message when the next one begins
  urlspool scan --since 1994 --until 1996-06 --exclude Spam ~/Mail
  urlspool scan --dry-run archive/
  urlspool scan --schemes gopher,wais,prospero --summary sums.json news/";

#[cfg(feature = "stats")]
pub(super) const STATS: &str = "Exit codes:
  0  done
  1  done, but some input could not be read, or a line is no record
  2  the arguments cannot be used, or an output would overwrite an input or a file that urlspool did not write
 74  an output cannot be written, or the database cannot be read
 78  the database is damaged

Examples:
  urlspool stats ~/Mail
  urlspool stats --html mail.html --csv mail-tables ~/Mail
  urlspool stats --json urls.db | jq .distinct_urls.count
  urlspool scan ~/Mail | tee urls.jsonl | urlspool stats
  urlspool stats --top 50 /var/lib/urlspool/out";

#[cfg(feature = "daemon")]
pub(super) const WATCH: &str = "Exit codes:
  0  stopped, or with --once: done; or the reader of standard output closed it
  1  with --once: done, but some file could not be read, is locked or still written
  2  the arguments or the configuration cannot be used
 74  the output or the state cannot be written
 75  another instance is running with the same state
 78  the state and the output contradict each other; the message names the way out
130  interrupted with Ctrl-C; what was read is committed

Examples:
  urlspool watch ~/Maildir                        show new URLs as mail arrives
  urlspool watch -o urls ~/Maildir                write them into segments, exactly once
  urlspool watch --stdout ~/Mail/inbox | consumer
  urlspool watch --config /etc/urlspool/urlspool.toml --log json
  urlspool watch --config urlspool.toml --once";

#[cfg(feature = "daemon")]
pub(super) const STATUS: &str = "Examples:
  urlspool status | jq .
  urlspool status --config urlspool.toml
  urlspool status -o urls                         of `urlspool watch -o urls PATH`";

pub(super) const PARSE: &str = "Examples:
  urlspool parse 'ftp://myname@host.dom/%2Fetc/motd'
  urlspool parse --check - < urls.txt";

pub(super) const EXPLAIN: &str = "Examples:
  urlspool explain archive.mbox:10233
  urlspool explain list.mbox.gz:10233         offset in the unpacked file
  urlspool explain 'news.tar!comp/mail/1'     member of an archive";

pub(super) const SPLITS: &str = "Examples:
  urlspool splits --size 1GiB archive/ | parallel --pipe -k -N1 urlspool scan --splits -";

pub(super) const SHOW: &str = "Examples:
  urlspool scan inbox | head -1 | urlspool show
  urlspool show inbox:120-155
  urlspool show list.mbox.gz:120-155          offsets in the unpacked file
  urlspool show 'news.tar!comp/mail/1:0-80'   member of an archive
  urlspool show 'a.zip!b.tar!c.mbox:0-80'     member of an archive in an archive";

#[cfg(feature = "load")]
pub(super) const LOAD: &str = "Exit codes:
  0  done
  1  done, but some lines are no record, some input could not be read, or the server refused a record
  2  the arguments, the target or the records cannot be used, or an input is missing or was not scanned
 69  the server cannot be reached
 74  the database cannot be read or written, or a segment cannot be read
 75  another program is writing to the database
 78  the database is damaged, or a segment contradicts its sidecar or the database
130  interrupted; with --follow everything that was read is committed

Examples:
  urlspool load --into urls.db urls.jsonl
  urlspool scan --into urls.db ~/Mail                   scans and loads in one process
  urlspool load --into urls.db --replace urls.jsonl     after a new scan of the same files
  urlspool load --into urls.db --prune ~/Mail           removes the rows of files that are gone
  urlspool load --into urls.db --follow /var/lib/urlspool/out";

#[cfg(feature = "load")]
pub(super) const SEARCH: &str = "Exit codes:
  0  done, also if nothing was found
  2  the arguments or the database cannot be used
 74  the database cannot be read
 78  the database is damaged

Examples:
  urlspool search urls.db cern
  urlspool search urls.db --host info.cern.ch --until 1994
  urlspool search urls.db --key http://info.cern.ch/ --sort oldest
  urlspool search urls.db --sender jane --format csv 'goph*'
  urlspool search urls.db -- gopher '\"red lamp\"' -wick
  urlspool search urls.db gopher --facets domain,year
  urlspool search urls.db --limit 1 gopher | urlspool show";

#[cfg(feature = "load")]
pub(super) const CITED: &str = "Exit codes:
  0  done, also if nothing was found
  2  the arguments or the database cannot be used
 74  the database cannot be read
 78  the database is damaged

Examples:
  urlspool cited urls.db http://info.cern.ch/
  urlspool cited urls.db cern.ch --format csv > cern.csv
  urlspool cited urls.db cern.ch --format jsonl --limit 1 | urlspool show";

#[cfg(feature = "browse")]
pub(super) const BROWSE: &str = "Exit codes:
  2  the arguments or the database cannot be used
 69  the address cannot be listened on
 74  the database cannot be read
 78  the database is damaged
130  interrupted with Ctrl-C, which ends it

Examples:
  urlspool browse urls.db
  urlspool browse urls.db --listen 127.0.0.1:0
  ssh -L 8797:127.0.0.1:8797 archive urlspool browse urls.db      from another machine";

#[cfg(feature = "audit")]
pub(super) const AUDIT: &str = "Examples:
  urlspool audit plan urls.db
  urlspool audit plan urls.db --sample 5000 --by year --seed 1
  urlspool audit check urls.db
  urlspool audit status urls.db
  urlspool audit import urls.db results.csv
  urlspool audit import urls.db lychee.json --checked-at 2026-11-22
  urlspool audit archive urls.db --cdx https://web.archive.org/cdx/search/cdx --contact you@your.site
  urlspool audit report urls.db -o report.html --csv tables
  urlspool audit save urls.db --as seeds
  urlspool audit report urls.db -o report.html --bundle evidence";

#[cfg(feature = "audit")]
pub(super) const AUDIT_PLAN: &str = "Exit codes:
  0  done
  2  the arguments or the database cannot be used, or the sample is too small
 74  the database cannot be read or written
 75  another program is writing to the database
 78  the database is damaged

Examples:
  urlspool audit plan urls.db
  urlspool audit plan urls.db --sample 5000 --by year --seed 1";

#[cfg(feature = "audit")]
pub(super) const AUDIT_CHECK: &str = "Exit codes:
  0  all that was due is checked, or --limit is reached
  2  the arguments or the database cannot be used, or it has no plan
 69  no server replies
 74  the database cannot be written
 75  another program is writing to the database
 78  the database is damaged
130  interrupted; run it again to go on

Examples:
  urlspool audit check urls.db --contact you@your.site
  urlspool audit check urls.db --limit 5000
  urlspool audit check urls.db --confirm 2 --confirm-after 1w
  urlspool audit check urls.db --max-age 12w --timeout 60
  urlspool audit check urls.db --schemes ftp,gopher --contact you@your.site";

#[cfg(feature = "audit")]
pub(super) const AUDIT_STATUS: &str = "Exit codes:
  0  done
  2  the arguments or the database cannot be used, or it has no plan
 74  the database cannot be read
 75  another program has locked the database
 78  the database is damaged

Examples:
  urlspool audit status urls.db
  urlspool audit status urls.db --max-age 12w";

#[cfg(feature = "audit")]
pub(super) const AUDIT_IMPORT: &str = "Exit codes:
  0  done
  1  done, but some results are refused
  2  the arguments, the database, its plan or the file of results cannot be used
 74  the database cannot be read or written
 75  another program is writing to the database
 78  the database is damaged

Examples:
  urlspool audit import urls.db results.csv
  urlspool audit import urls.db lychee.json --checked-at 2026-11-22";

#[cfg(feature = "audit")]
pub(super) const AUDIT_SAVE: &str = "Exit codes:
  0  done
  1  done, but some URLs were not captured or are not complete; run it again to go on
  2  the arguments, the keys or the database cannot be used, it has no plan, or the service redirects
 69  the service cannot be reached, refuses, or has taken as much as it takes in a day
 74  the database cannot be read or written, or the list cannot be written
 75  another program is writing to the database
 78  the database is damaged
130  interrupted; run it again to go on

Examples:
  urlspool audit save urls.db
  urlspool audit save urls.db --as seeds -o seeds.txt
  urlspool audit save urls.db --send --contact you@your.site";

#[cfg(feature = "audit")]
pub(super) const AUDIT_ARCHIVE: &str = "Exit codes:
  0  all that was due is asked for, or --limit is reached
  1  done, but some URLs have no answer; run it again to ask for them
  2  the arguments or the database cannot be used, it has no plan, or the server redirects
 69  the server cannot be reached, refuses, or is no CDX server; run it again to go on
 74  the database cannot be read or written
 75  another program is writing to the database
 78  the database is damaged
130  interrupted; run it again to go on

Examples:
  urlspool audit archive urls.db --cdx https://web.archive.org/cdx/search/cdx --contact you@your.site
  urlspool audit archive urls.db --cdx http://localhost:8080/web/cdx --contact you@your.site --rate 600
  urlspool audit archive urls.db --cdxj index.cdxj --timemap 'https://a.example/timemap/link/{url}' --contact you@your.site";

#[cfg(feature = "audit")]
pub(super) const AUDIT_INSPECT: &str = "Exit codes:
  0  all that was due is inspected, or --limit is reached
  2  the arguments or the database cannot be used, or it has no plan
 69  no server replied; run it again to go on
 74  the database cannot be read or written
 75  another program is writing to the database
 78  the database is damaged
130  interrupted; run it again to go on

Examples:
  urlspool audit inspect urls.db --contact you@your.site";

#[cfg(feature = "audit")]
pub(super) const AUDIT_REPORT: &str = "Exit codes:
  0  done
  2  the arguments or the database cannot be used, it has no plan, or would be overwritten
 74  the database cannot be read, or a file cannot be written
 75  another program has locked the database
 78  the database is damaged

Examples:
  urlspool audit report urls.db -o report.html
  urlspool audit report urls.db -o report.html --csv tables --no-senders
  urlspool audit report urls.db -o report.html --bundle evidence";

pub(super) const SCHEMA: &str = "Examples:
  urlspool schema > record.schema.json
  urlspool schema --as duckdb | duckdb urls.db";

pub(super) const CHECK_CONFIG: &str = "Examples:
  urlspool check-config --default > urlspool.toml
  urlspool check-config urlspool.toml
  urlspool check-config - < urlspool.toml";

pub(super) const COMPLETIONS: &str = "Examples:
  urlspool completions bash > ~/.local/share/bash-completion/completions/urlspool
  urlspool completions zsh > ~/.zfunc/_urlspool
  urlspool completions fish > ~/.config/fish/completions/urlspool.fish";

pub(super) const MAN: &str = "Examples:
  urlspool man
  urlspool man scan
  urlspool man urlspool.toml > urlspool.toml.5       roff, as for every output but a terminal
  urlspool man --all ~/.local/share/man";

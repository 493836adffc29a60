//! The answer to a request: which page it asks for, and the rows of the database for it.

use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rusqlite::{Connection, ErrorCode, InterruptHandle, OptionalExtension};

use super::pages::{self, LinkFacts, LinksPage, PageRow, SearchPage, Snapshot, Subject};
use super::raw::passage;
use super::request::{
    BAD_REQUEST, FAILED, Filter, FilterField, LinkOrder, NOT_FOUND, PageSearch, Refusal,
    UNAVAILABLE,
};
use super::selection::{
    Selection, key_of_link, links_of_domain, links_page, ordered_links, select,
};
use crate::limits::{
    BROWSE_KEPT_LISTS, BROWSE_PAGE_LINKS, BROWSE_PAGE_ROWS, BROWSE_PASSAGE_CHARS, BROWSE_TOP_NAMES,
};
use crate::load::{PassageMarker, citation_of_row};
use crate::parse::key;
use crate::planted_faults::{PlantedFault, panic_at_mark};
use crate::record::{CitedLink, FormulaGuard, ListRow, TableSyntax, list_texts};

/// An answer with a body.
pub(super) struct Answer {
    /// The status of HTTP with its phrase.
    pub(super) status: &'static str,
    pub(super) content_type: &'static str,
    /// The name under which a browser saves it.
    pub(super) file_name: Option<String>,
    pub(super) body: Body,
}

impl Answer {
    /// Returns a page.
    pub(super) fn page(status: &'static str, text: String) -> Answer {
        Answer {
            status,
            content_type: "text/html; charset=utf-8",
            file_name: None,
            body: Body::Text(text),
        }
    }
}

pub(super) enum Body {
    Text(String),
    /// Rows, and the first piece of them.
    Rows(Arc<Rows>, RowsPiece),
}

/// The rows of a list as a table or as JSON lines.
pub(super) struct Rows {
    list: SavedList,
    is_csv: bool,
}

/// A piece of rows.
pub(super) struct RowsPiece {
    pub(super) lines: Vec<u8>,
    /// The first row of the next piece; `None` after the last one.
    pub(super) next: Option<usize>,
}

/// A list that is saved as a file.
enum SavedList {
    Citations(Arc<Selection>),
    /// Links with the numbers of their citations, in the order of the file.
    Links(Vec<(i64, u64)>),
}

/// The links of a list of citations with the numbers of these, in no order.
struct ListedLinks<'l> {
    all: Cow<'l, [(i64, u64)]>,
    /// `true` if they are those of a sample of the citations.
    is_sample: bool,
}

/// Lists that were made, the last used one at the end.
#[derive(Debug, Default)]
pub(super) struct ListCache(Mutex<Vec<KeptList>>);

#[derive(Debug)]
struct KeptList {
    query: String,
    version: DatabaseVersion,
    list: Arc<Selection>,
}

/// Sizes and times of the database and its log: others after a load has committed.
type DatabaseVersion = [Option<(u64, SystemTime)>; 2];

/// Bytes of rows that are sent at once.
const ROWS_BYTES: usize = 64 << 10;

const SYNTAX: TableSyntax = TableSyntax::Csv {
    guard: FormulaGuard::On,
    delimiter: b',',
};

/// A thread's handle of the database.
pub(super) struct Answerer {
    db: Connection,
    path: PathBuf,
    /// The folder below which files are shown; `None` for all.
    files: Option<PathBuf>,
    lists: Arc<ListCache>,
}

/// Returns the answer to a request for `path` that needs no database.
pub(super) fn fixed_answer(path: &str) -> Option<Answer> {
    match path {
        "style.css" => Some(Answer {
            content_type: "text/css; charset=utf-8",
            ..Answer::page("200 OK", pages::style())
        }),
        // Browsers ask for it without being told.
        "favicon.ico" => Some(Answer::page("204 No Content", String::new())),
        _ => None,
    }
}

impl Answerer {
    pub(super) fn new(
        db: Connection,
        path: PathBuf,
        files: Option<PathBuf>,
        lists: Arc<ListCache>,
    ) -> Answerer {
        Answerer {
            db,
            path,
            files,
            lists,
        }
    }

    /// Returns the answer to a request for `path`.
    pub(super) fn answer(&self, path: &str, query: &str) -> Result<Answer, Refusal> {
        let html = |text| Answer::page("200 OK", text);
        match path {
            "" | "link" | "domain" | "list" | "sender" => {
                let (filter, page) = Filter::of_query(query)?;
                match self.page(path, filter.clone(), page) {
                    Err(NOT_FOUND) if path == "link" => {
                        let page = pages::not_cited(&filter);
                        Ok(Answer::page(NOT_FOUND.status, page))
                    }
                    page => page.map(html),
                }
            }
            "links" => {
                let (filter, page) = Filter::of_query(query)?;
                let order = LinkOrder::of_query(query);
                self.links_page(&filter, order, page).map(html)
            }
            "bytes" => {
                let row = query.strip_prefix("row=").and_then(|row| row.parse().ok());
                self.bytes_page(row.ok_or(BAD_REQUEST)?).map(html)
            }
            "citations.csv" | "citations.jsonl" | "links.csv" | "links.jsonl" => {
                self.file(path, query)
            }
            _ => Err(NOT_FOUND),
        }
    }

    fn page(&self, path: &str, filter: Filter, page: usize) -> Result<String, Refusal> {
        let words = filter.value(FilterField::Words);
        panic_at_mark(PlantedFault::PanicInPage, words.as_bytes());
        let search = match filter.search() {
            Ok(search) => search,
            Err(reason) => return Ok(pages::not_searched(&filter, reason)),
        };
        let list = self.list(&filter, &search)?;
        let subject = self.subject(path, &filter)?;
        let pages = list.ids.len().div_ceil(BROWSE_PAGE_ROWS).max(1);
        let page = page.min(pages);
        let first = (page - 1) * BROWSE_PAGE_ROWS;
        let ids = list.ids.iter().skip(first).take(BROWSE_PAGE_ROWS);
        let rows: rusqlite::Result<Vec<_>> = ids
            .filter_map(|id| self.page_row(*id).transpose())
            .collect();
        let mut rows = answered(rows)?;
        answered(mark_words(&mut rows, &search))?;
        Ok(pages::search_page(&SearchPage {
            database: &self.path,
            filter,
            list: &list,
            rows,
            subject,
            words_left_out: search.words_left_out,
            clean_key: search.clean_key,
            first,
            page,
            pages,
        }))
    }

    /// Returns the page with the links of a list of citations.
    fn links_page(
        &self,
        filter: &Filter,
        order: LinkOrder,
        page: usize,
    ) -> Result<String, Refusal> {
        let search = match filter.search() {
            Ok(search) => search,
            Err(reason) => return Ok(pages::not_searched(filter, reason)),
        };
        let list = self.list(filter, &search)?;
        let ListedLinks {
            all: links,
            is_sample,
        } = self.links(&list, &search)?;
        let pages = links.len().div_ceil(BROWSE_PAGE_LINKS).max(1);
        let page = page.min(pages);
        let first = (page - 1) * BROWSE_PAGE_LINKS;
        let part = first..links.len().min(first + BROWSE_PAGE_LINKS);
        let rows = answered(links_page(&self.db, &links, order, part))?;
        Ok(pages::links_page(&LinksPage {
            filter,
            list: &list,
            is_sample,
            order,
            rows,
            links: links.len(),
            first,
            page,
            pages,
        }))
    }

    /// Returns the links of a list of citations.
    fn links<'l>(
        &self,
        list: &'l Selection,
        search: &PageSearch,
    ) -> Result<ListedLinks<'l>, Refusal> {
        match search.domain_alone() {
            // The links of a domain are known without its citations.
            Some(domain) if list.sampled.is_some() => Ok(ListedLinks {
                all: Cow::Owned(answered(links_of_domain(&self.db, &domain))?),
                is_sample: false,
            }),
            _ => Ok(ListedLinks {
                all: Cow::Borrowed(&list.links),
                is_sample: list.sampled.is_some(),
            }),
        }
    }

    /// Returns all pages of a list as a file.
    fn file(&self, path: &str, query: &str) -> Result<Answer, Refusal> {
        let (filter, _) = Filter::of_query(query)?;
        let search = match filter.search() {
            Ok(search) => search,
            Err(reason) => {
                let page = pages::not_searched(&filter, reason);
                return Ok(Answer::page(BAD_REQUEST.status, page));
            }
        };
        let list = self.list(&filter, &search)?;
        let (name, extension) = path.split_once('.').unwrap_or((path, ""));
        let is_csv = extension == "csv";
        let (list, is_sample) = if name == "links" {
            let links = self.links(&list, &search)?;
            let order = LinkOrder::of_query(query);
            let ordered = answered(ordered_links(&self.db, &links.all, order))?;
            (SavedList::Links(ordered), links.is_sample)
        } else {
            let is_sample = list.sampled.is_some();
            (SavedList::Citations(list), is_sample)
        };
        let sample = if is_sample { "-sample" } else { "" };
        let rows = Rows { list, is_csv };
        let first = self.rows_piece(&rows, 0)?;
        Ok(Answer {
            status: "200 OK",
            content_type: if is_csv {
                "text/csv; charset=utf-8"
            } else {
                "application/jsonl; charset=utf-8"
            },
            file_name: Some(format!("{name}{sample}.{extension}")),
            body: Body::Rows(Arc::new(rows), first),
        })
    }

    /// Returns the page with the raw bytes of a citation.
    fn bytes_page(&self, id: i64) -> Result<String, Refusal> {
        let row = answered(self.page_row(id))?.ok_or(NOT_FOUND)?;
        let sql = "SELECT kind FROM sources WHERE id = (SELECT source FROM urls WHERE id = ?1)";
        let kind: String = answered(self.db.query_row(sql, [id], |row| row.get(0)))?;
        let passage = passage(&row.citation.found, &kind, self.files.as_deref());
        Ok(pages::bytes_page(&row, &passage))
    }

    /// Returns the thing that a page is about.
    fn subject(&self, path: &str, filter: &Filter) -> Result<Subject, Refusal> {
        let field = match path {
            "link" => FilterField::Key,
            "domain" => FilterField::Domain,
            "list" => FilterField::List,
            "sender" => FilterField::Sender,
            _ => return Ok(Subject::Search),
        };
        let name = filter.value(field);
        if name.is_empty() {
            return Err(BAD_REQUEST);
        }
        if field != FilterField::Key {
            return Ok(Subject::Name(field, name.to_owned()));
        }
        let facts = answered(self.link_facts(name))?;
        facts
            .map(|facts| Subject::Link(Box::new(facts)))
            .ok_or(NOT_FOUND)
    }

    /// Returns the list of a filter, which is that of the search.
    fn list(&self, filter: &Filter, search: &PageSearch) -> Result<Arc<Selection>, Refusal> {
        let (query, version) = (filter.to_query(1), self.version());
        if let Some(list) = self.lists.get(&query, &version) {
            return Ok(list);
        }
        let list = Arc::new(answered(select(&self.db, search))?);
        self.lists.put(KeptList {
            query,
            version,
            list: Arc::clone(&list),
        });
        Ok(list)
    }

    fn version(&self) -> DatabaseVersion {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        [self.path.clone(), log.into()].map(|path| {
            let found = fs::metadata(path).ok()?;
            Some((found.len(), found.modified().ok()?))
        })
    }

    /// Returns a citation; `None` if a load has removed it meanwhile.
    fn page_row(&self, id: i64) -> rusqlite::Result<Option<PageRow>> {
        let Some(citation) = citation_of_row(&self.db, id)? else {
            return Ok(None);
        };
        let sql = "SELECT links.key, links.citations, urls.hazards, urls.truncated,
            urls.domain FROM urls LEFT JOIN links ON links.id = urls.link WHERE urls.id = ?1";
        let mut statement = self.db.prepare_cached(sql)?;
        let row = statement.query_row([id], |row| {
            let hazards: Option<String> = row.get(2)?;
            Ok(PageRow {
                id,
                citation,
                key: row.get(0)?,
                citations: row.get::<_, Option<i64>>(1)?.map_or(0, i64::cast_unsigned),
                hazards: list_texts(hazards.as_deref().unwrap_or_default()),
                is_truncated: row.get::<_, Option<bool>>(3)?.unwrap_or(false),
                domain: row.get(4)?,
            })
        });
        row.optional()
    }

    fn link_facts(&self, url: &str) -> rusqlite::Result<Option<LinkFacts>> {
        let key = String::from_utf8_lossy(&key(url.as_bytes())).into_owned();
        let sql = "SELECT citations, messages, first, last, clean_key, domain, host FROM links
            WHERE key = ?1";
        let found = self.db.query_row(sql, [&key], |row| {
            let clean_key: Option<String> = row.get(4)?;
            Ok((
                clean_key,
                LinkFacts {
                    key: key.clone(),
                    citations: row.get::<_, i64>(0)?.cast_unsigned(),
                    messages: row.get::<_, i64>(1)?.cast_unsigned(),
                    first: row.get(2)?,
                    last: row.get(3)?,
                    domain: row.get(5)?,
                    host: row.get(6)?,
                    ..LinkFacts::default()
                },
            ))
        });
        let Some((clean_key, mut facts)) = found.optional()? else {
            return Ok(None);
        };
        facts.others = self.other_readings(&facts, clean_key.as_deref())?;
        self.add_audit(&mut facts)?;
        Ok(Some(facts))
    }

    /// Returns links of the same host with the same clean key: the same page, shared in other ways.
    fn other_readings(
        &self,
        facts: &LinkFacts,
        clean_key: Option<&str>,
    ) -> rusqlite::Result<Vec<(String, u64)>> {
        let sql = "SELECT key, citations FROM links
            WHERE host IS ?1 AND clean_key = ?2 AND key != ?3
            ORDER BY citations DESC, key LIMIT CAST(?4 AS INTEGER)";
        let mut statement = self.db.prepare_cached(sql)?;
        let limit = BROWSE_TOP_NAMES.to_string();
        let values = rusqlite::params![facts.host, clean_key, facts.key, limit];
        let rows = statement.query_map(values, |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })?;
        rows.collect()
    }

    /// Adds what an audit found, if there was one.
    fn add_audit(&self, facts: &mut LinkFacts) -> rusqlite::Result<()> {
        let sql = "SELECT count(*) FROM sqlite_master
            WHERE type = 'table' AND name IN ('audit_checks', 'audit_captures')";
        if self.db.query_row(sql, [], |row| row.get::<_, i64>(0))? != 2 {
            return Ok(());
        }
        let sql = "SELECT state, checked_at, status, error, final_url FROM audit_checks
            WHERE key = ?1 ORDER BY checked_at DESC, id DESC LIMIT 1";
        let check = self.db.query_row(sql, [&facts.key], |row| {
            Ok(pages::Check {
                state: row.get(0)?,
                checked_at: row.get(1)?,
                status: row.get(2)?,
                error: row.get(3)?,
                final_url: row.get(4)?,
            })
        });
        facts.check = check.optional()?;
        let sql = "SELECT server, timestamp, status, outcome, original FROM audit_captures
            WHERE key = ?1";
        let snapshot = self.db.query_row(sql, [&facts.key], |row| {
            Ok(Snapshot {
                server: row.get(0)?,
                timestamp: row.get(1)?,
                status: row.get(2)?,
                outcome: row.get(3)?,
                original: row.get(4)?,
            })
        });
        facts.snapshot = snapshot.optional()?;
        Ok(())
    }

    /// Returns the piece of the rows of a list that begins with row `from`.
    pub(super) fn rows_piece(&self, rows: &Rows, from: usize) -> Result<RowsPiece, Refusal> {
        answered(match &rows.list {
            SavedList::Citations(list) => {
                let ids = list.ids.iter().skip(from);
                let found = ids.map(|id| citation_of_row(&self.db, *id));
                piece(found, rows.is_csv, from)
            }
            SavedList::Links(links) => {
                let found = links.iter().skip(from).map(|(id, citations)| {
                    let url = key_of_link(&self.db, *id)?;
                    Ok(url.map(|url| CitedLink {
                        url,
                        citations: *citations,
                    }))
                });
                piece(found, rows.is_csv, from)
            }
        })
    }

    pub(super) fn interrupt_handle(&self) -> InterruptHandle {
        self.db.get_interrupt_handle()
    }
}

/// Returns a piece of the rows from the one with number `from` on, without those that a load has
/// removed meanwhile.
fn piece<R: ListRow>(
    rows: impl Iterator<Item = rusqlite::Result<Option<R>>>,
    is_csv: bool,
    from: usize,
) -> rusqlite::Result<RowsPiece> {
    let mut lines = Vec::new();
    if is_csv && from == 0 {
        lines.extend_from_slice((R::COLUMNS.join(",") + "\n").as_bytes());
    }
    for (next, row) in (from + 1..).zip(rows) {
        match row? {
            Some(row) if is_csv => row.write_row(SYNTAX, &mut lines),
            Some(row) => row.write_json(&mut lines),
            None => {}
        }
        if ROWS_BYTES < lines.len() {
            let next = Some(next);
            return Ok(RowsPiece { lines, next });
        }
    }
    Ok(RowsPiece { lines, next: None })
}

impl ListCache {
    fn get(&self, query: &str, version: &DatabaseVersion) -> Option<Arc<Selection>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|kept| kept.version == *version);
        let at = lists.iter().position(|kept| kept.query == query)?;
        let kept = lists.remove(at);
        let list = Arc::clone(&kept.list);
        lists.push(kept);
        Some(list)
    }

    fn put(&self, kept: KeptList) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if BROWSE_KEPT_LISTS <= lists.len() {
            lists.remove(0);
        }
        lists.push(kept);
    }
}

/// Cuts the passages of rows to what a page shows, and marks the words of a search in them.
fn mark_words(rows: &mut [PageRow], search: &PageSearch) -> rusqlite::Result<()> {
    let mut marker = PassageMarker::new(&search.query)?;
    for row in rows {
        let found = &mut row.citation.found;
        if let Some(context) = &mut found.context {
            context.shorten(BROWSE_PASSAGE_CHARS);
        }
        if let Some(marker) = &mut marker {
            marker.mark(found)?;
        }
    }
    Ok(())
}

/// Returns the result of queries. One that was interrupted is said apart from a database that
/// cannot be read.
fn answered<T>(result: rusqlite::Result<T>) -> Result<T, Refusal> {
    result.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => UNAVAILABLE,
        _ => FAILED,
    })
}

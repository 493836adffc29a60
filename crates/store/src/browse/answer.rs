//! Selects the page for a request and collects its rows from the database.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hyper::StatusCode;
use rusqlite::{Connection, ErrorCode, OptionalExtension};

use super::pages::{self, Asked, LinkFacts, Position, SearchPage, Subject};
use super::raw::passage;
use super::request::{Filter, FilterField, LinkOrder, PageSearch};
use super::selection::{
    Selection, has_audit, key_of_link, links_of_domain, links_page, ordered_links, select,
};
use crate::load::{Citation, CitedLink, ListRow, citation_of_row, key_of};
use urlspool_files::sink::with_end;
use urlspool_record::record::{FormulaGuard, TableSyntax};
use urlspool_text::limits::{
    BROWSE_KEPT_LISTS, BROWSE_PAGE_LINKS, BROWSE_PAGE_ROWS, BROWSE_PASSAGE_CHARS, BROWSE_TOP_NAMES,
};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};

/// A response with a body.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: &'static str,
    /// File name that a browser suggests for saving.
    pub(super) file_name: Option<String>,
    pub(super) body: Body,
}

impl Answer {
    /// Creates an HTML response.
    pub(super) fn page(status: StatusCode, text: String) -> Answer {
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
    /// Rows, and their first piece.
    Rows(Arc<Rows>, RowsPiece),
}

/// Rows of a list to format as CSV or as JSON lines.
pub(super) struct Rows {
    list: SavedList,
    is_csv: bool,
}

/// A piece of the rows.
pub(super) struct RowsPiece {
    pub(super) lines: Vec<u8>,
    /// First row of the next piece; `None` after the last piece.
    pub(super) next: Option<usize>,
}

/// A list that is saved as a file.
enum SavedList {
    Citations(Arc<Selection>),
    /// Links and their numbers of citations, in file order.
    Links(Vec<(i64, u64)>),
}

/// A cached list.
#[derive(Debug)]
pub(super) struct KeptList {
    query: String,
    version: DatabaseVersion,
    list: Arc<Selection>,
}

/// Size and modification time of the database and its log. They differ after each commit of a load.
type DatabaseVersion = [Option<(u64, SystemTime)>; 2];

/// Number of bytes of rows sent at once.
const ROWS_BYTES: usize = 64 << 10;

const SYNTAX: TableSyntax = TableSyntax::Csv {
    guard: FormulaGuard::On,
    delimiter: b',',
};

/// A thread's handle to the database.
pub(super) struct Answerer {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    /// Only files in this folder are shown; `None` allows all files.
    pub(super) files: Option<PathBuf>,
    /// Cached lists, the most recently used last.
    pub(super) lists: Arc<Mutex<Vec<KeptList>>>,
}

/// Returns the response to a request for `path` that needs no database.
pub(super) fn fixed_answer(path: &str) -> Option<Answer> {
    match path {
        "style.css" => Some(Answer {
            content_type: "text/css; charset=utf-8",
            ..Answer::page(StatusCode::OK, pages::style())
        }),
        // Browsers always request it.
        "favicon.ico" => Some(Answer::page(StatusCode::NO_CONTENT, String::new())),
        _ => None,
    }
}

impl Answerer {
    /// Returns the response to a request for `path`.
    pub(super) fn answer(&self, path: &str, query: &str) -> Result<Answer, StatusCode> {
        let is_file = match path {
            "" | "link" | "domain" | "list" | "sender" | "links" => false,
            "citations.csv" | "citations.jsonl" | "links.csv" | "links.jsonl" => true,
            "bytes" => {
                let row = query.strip_prefix("row=").and_then(|row| row.parse().ok());
                let page = self.bytes_page(row.ok_or(StatusCode::BAD_REQUEST)?)?;
                return Ok(Answer::page(StatusCode::OK, page));
            }
            _ => return Err(StatusCode::NOT_FOUND),
        };
        let (mut filter, page) = Filter::of_query(query)?;
        filter.has_audit = answered(has_audit(&self.db))?;
        let words = filter.value(FilterField::Words);
        panic_at_mark(PlantedFault::PanicInPage, words.as_bytes());
        let search = match filter.search() {
            Ok(search) => search,
            Err(reason) => {
                let page = pages::not_searched(&filter, reason);
                return Ok(Answer::page(StatusCode::BAD_REQUEST, page));
            }
        };
        let list = self.list(&filter, &search)?;
        let asked = Asked {
            filter,
            search,
            list,
            order: LinkOrder::of_query(query),
            page,
        };
        if is_file {
            return self.file(path, &asked);
        }
        let page = if path == "links" {
            self.links_page(&asked)?
        } else {
            match self.subject(path, &asked.filter) {
                Err(StatusCode::NOT_FOUND) => {
                    let page = pages::not_cited(&asked.filter);
                    return Ok(Answer::page(StatusCode::NOT_FOUND, page));
                }
                subject => self.search_page(&asked, subject?)?,
            }
        };
        Ok(Answer::page(StatusCode::OK, page))
    }

    /// Renders a page with a list of citations.
    fn search_page(&self, asked: &Asked, subject: Subject) -> Result<String, StatusCode> {
        let ids = &asked.list.ids;
        let position = Position::new(asked.page, BROWSE_PAGE_ROWS, ids.len());
        let rows = ids[position.rows()].iter();
        let rows = rows.filter_map(|id| citation_of_row(&self.db, *id).transpose());
        let mut rows = answered(rows.collect::<rusqlite::Result<Vec<_>>>())?;
        answered(mark_words(&mut rows, &asked.search))?;
        Ok(pages::search_page(&SearchPage {
            database: &self.path,
            asked,
            rows,
            subject,
            position,
        }))
    }

    /// Renders a page with the links of a list of citations.
    fn links_page(&self, asked: &Asked) -> Result<String, StatusCode> {
        let (links, is_sample) = self.links(asked)?;
        let position = Position::new(asked.page, BROWSE_PAGE_LINKS, links.len());
        let rows = answered(links_page(&self.db, links, asked.order, position.rows()))?;
        Ok(pages::links_page(asked, is_sample, &rows, &position))
    }

    /// Returns the links of a list of citations, unordered, with their numbers of citations. Also
    /// returns `true` if they come from a sample of the citations.
    fn links(&self, asked: &Asked) -> Result<(Vec<(i64, u64)>, bool), StatusCode> {
        let list = &asked.list;
        match asked.search.domain_alone() {
            // The links of a domain can be listed without its citations.
            Some(domain) if list.sampled.is_some() => {
                let links = answered(links_of_domain(
                    &self.db,
                    &domain,
                    asked.filter.shows_list_fields,
                ))?;
                Ok((links, false))
            }
            _ => Ok((list.links.clone(), list.sampled.is_some())),
        }
    }

    /// Returns all pages of a list as a file.
    fn file(&self, path: &str, asked: &Asked) -> Result<Answer, StatusCode> {
        let (name, extension) = path.split_once('.').unwrap_or((path, ""));
        let is_csv = extension == "csv";
        let (list, is_sample) = if name == "links" {
            let (links, is_sample) = self.links(asked)?;
            let ordered = answered(ordered_links(&self.db, links, asked.order))?;
            (SavedList::Links(ordered), is_sample)
        } else {
            let list = Arc::clone(&asked.list);
            (SavedList::Citations(list), asked.list.sampled.is_some())
        };
        let sample = if is_sample { "-sample" } else { "" };
        let rows = Rows { list, is_csv };
        let first = self.rows_piece(&rows, 0)?;
        Ok(Answer {
            status: StatusCode::OK,
            content_type: if is_csv {
                "text/csv; charset=utf-8"
            } else {
                "application/jsonl; charset=utf-8"
            },
            file_name: Some(format!("{name}{sample}.{extension}")),
            body: Body::Rows(Arc::new(rows), first),
        })
    }

    /// Renders the page with the raw bytes of a citation.
    fn bytes_page(&self, id: i64) -> Result<String, StatusCode> {
        let row = answered(citation_of_row(&self.db, id))?.ok_or(StatusCode::NOT_FOUND)?;
        let sql = "SELECT kind FROM sources WHERE id = (SELECT source FROM urls WHERE id = ?1)";
        let kind: String = answered(self.db.query_row(sql, [id], |row| row.get(0)))?;
        let passage = passage(&row.found, &kind, self.files.as_deref());
        Ok(pages::bytes_page(&row, &passage))
    }

    /// Returns the subject of a page.
    fn subject(&self, path: &str, filter: &Filter) -> Result<Subject, StatusCode> {
        let mut fields = FilterField::ALL.into_iter();
        let Some(field) = fields.find(|field| field.path() == path) else {
            return Ok(Subject::Search);
        };
        let name = filter.value(field);
        if name.is_empty() {
            return Err(StatusCode::BAD_REQUEST);
        }
        if field != FilterField::Key {
            return Ok(Subject::Name(field, name.to_owned()));
        }
        let facts = answered(self.link_facts(name))?;
        let facts = facts.ok_or(StatusCode::NOT_FOUND)?;
        Ok(Subject::Link(Box::new(facts)))
    }

    /// Returns the list for a filter; `search` is the filter's search.
    fn list(&self, filter: &Filter, search: &PageSearch) -> Result<Arc<Selection>, StatusCode> {
        let (query, version) = (filter.to_query(1), self.version());
        if let Some(kept) = self.kept(&query, version) {
            return Ok(kept);
        }
        let list = Arc::new(answered(select(&self.db, &search.query))?);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if BROWSE_KEPT_LISTS <= lists.len() {
            lists.remove(0);
        }
        lists.push(KeptList {
            query,
            version,
            list: Arc::clone(&list),
        });
        Ok(list)
    }

    /// Returns a list cached for this version of the database. Drops lists of other versions.
    fn kept(&self, query: &str, version: DatabaseVersion) -> Option<Arc<Selection>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|kept| kept.version == version);
        let at = lists.iter().position(|kept| kept.query == query)?;
        lists[at..].rotate_left(1);
        lists.last().map(|kept| Arc::clone(&kept.list))
    }

    fn version(&self) -> DatabaseVersion {
        [self.path.clone(), with_end(&self.path, "-wal")].map(|path| {
            let found = fs::metadata(path).ok()?;
            Some((found.len(), found.modified().ok()?))
        })
    }

    fn link_facts(&self, url: &str) -> rusqlite::Result<Option<LinkFacts>> {
        let key = key_of(url);
        let sql = "SELECT citations, messages, first, last, clean_key, domain, host FROM links
            WHERE key = ?1";
        let found = self.db.query_row(sql, [&key], |row| {
            let clean_key: Option<String> = row.get(4)?;
            let facts = LinkFacts {
                key: key.clone(),
                citations: row.get::<_, i64>(0)?.cast_unsigned(),
                messages: row.get::<_, i64>(1)?.cast_unsigned(),
                first: row.get(2)?,
                last: row.get(3)?,
                domain: row.get(5)?,
                host: row.get(6)?,
                ..LinkFacts::default()
            };
            Ok((clean_key, facts))
        });
        let Some((clean_key, mut facts)) = found.optional()? else {
            return Ok(None);
        };
        facts.others = self.other_readings(&facts, clean_key.as_deref())?;
        self.add_audit(&mut facts)?;
        Ok(Some(facts))
    }

    /// Returns links of the same host with the same clean key: the same page shared in other ways.
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

    /// Adds the results of an audit, if there are any.
    fn add_audit(&self, facts: &mut LinkFacts) -> rusqlite::Result<()> {
        if !has_audit(&self.db)? {
            return Ok(());
        }
        let sql = "SELECT words, checked_at, status, error, final_url
            FROM audit_checks JOIN audit_states USING(key) WHERE key = ?1
            ORDER BY checked_at DESC, id DESC LIMIT 1";
        let check = self.db.query_row(sql, [&facts.key], pages::check);
        facts.check = check.optional()?;
        let sql = "SELECT server, timestamp, status, outcome, original FROM audit_captures
            WHERE key = ?1";
        let snapshot = self.db.query_row(sql, [&facts.key], pages::snapshot);
        facts.snapshot = snapshot.optional()?;
        Ok(())
    }

    /// Returns the piece of a list's rows that starts at row `from`.
    pub(super) fn rows_piece(&self, rows: &Rows, from: usize) -> Result<RowsPiece, StatusCode> {
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
}

/// Formats a piece of `rows`, which start at row `from`. Skips rows that a load has removed in the
/// meantime.
fn piece<R: ListRow>(
    rows: impl Iterator<Item = rusqlite::Result<Option<R>>>,
    is_csv: bool,
    from: usize,
) -> rusqlite::Result<RowsPiece> {
    let mut lines = Vec::new();
    if is_csv && from == 0 {
        lines.extend_from_slice(format!("{}\n", R::COLUMNS).as_bytes());
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

/// Shortens the context of rows for the page, and marks the words of the search.
fn mark_words(rows: &mut [Citation], search: &PageSearch) -> rusqlite::Result<()> {
    for context in rows.iter_mut().flat_map(|row| &mut row.found.context) {
        context.shorten(BROWSE_PASSAGE_CHARS);
    }
    if search.query.words.is_empty() {
        return Ok(());
    }
    let mut marker = search.query.marker()?;
    rows.iter_mut()
        .try_for_each(|row| marker.mark(&mut row.found))
}

/// Converts the result of a query. Distinguishes an interrupted query from a database that cannot
/// be read.
fn answered<T>(result: rusqlite::Result<T>) -> Result<T, StatusCode> {
    result.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    })
}

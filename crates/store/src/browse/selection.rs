//! Rows that a filter selects, in order, and the counts shown on a page: years, domains, links,
//! schemes, lists, senders and hazards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::request::{FilterField, LinkOrder};
use crate::load::{ONLY_IN_LIST_FIELDS, SearchOrder, SearchQuery};
use crate::stats::{list_names, sender_address};
use urlspool_mail::decode::AuthorKind;
use urlspool_record::record::list_texts;
use urlspool_text::limits::{
    BROWSE_EXACT_ROWS, BROWSE_SAMPLE_ROWS, BROWSE_SAMPLE_RUNS, BROWSE_TOP_NAMES,
};

/// A filtered list.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Matching rows of `urls`, in list order. If the list is a sample, only rows in the sample.
    pub(super) ids: Vec<i64>,
    /// Number of matching rows; an estimate for a sample.
    pub(super) total: u64,
    /// Number of rows examined for a sample; `None` if all were.
    pub(super) sampled: Option<u64>,
    /// Number of hidden rows, whose link occurs only in header fields of mailing lists; an estimate
    /// for a sample.
    pub(super) hidden: u64,
    /// Number of rows by year.
    pub(super) years: BTreeMap<String, u64>,
    /// Number of rows without a plausible date.
    pub(super) undated: u64,
    /// Links and their numbers of rows, unordered.
    pub(super) links: Vec<(i64, u64)>,
    /// Most frequent names, by the condition that selects them.
    pub(super) tops: [Vec<(String, u64)>; FilterField::ALL.len()],
}

/// A row of a list that is being built. Rows with equal dates are ordered by place.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    source: i64,
    start: i64,
    id: i64,
    cited: Option<String>,
}

/// Counts of names. `stats::TopList` cannot be used, because it estimates and truncates names. Here
/// each name becomes a link that filters by the whole name, and the number of rows is bounded.
type Counts = HashMap<String, u64>;

fn count(counts: &mut Counts, name: &str) {
    if let Some(count) = counts.get_mut(name) {
        *count += 1;
    } else if !name.is_empty() {
        // A URL such as file:///x has an empty host, which cannot be a filter.
        counts.insert(name.to_owned(), 1);
    }
}

/// Returns the most frequent names. Names with equal counts are in alphabetical order.
fn top(counts: Counts) -> Vec<(String, u64)> {
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_unstable_by(|(one, first), (other, second)| {
        second.cmp(first).then_with(|| one.cmp(other))
    });
    names.truncate(BROWSE_TOP_NAMES);
    names
}

/// Returns `true` if the database has an audit.
pub(super) fn has_audit(db: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE name = 'audit_states')";
    db.query_row(sql, [], |row| row.get(0))
}

/// Selects the rows of a search.
pub(super) fn select(db: &Connection, search: &SearchQuery) -> rusqlite::Result<Selection> {
    if search.state.is_some() && !has_audit(db)? {
        // No link has a state without an audit.
        return Ok(Selection::default());
    }
    let (filter, values) = search.filter()?;
    // Collect the ids first, because some conditions read all messages.
    let sql = format!(
        "SELECT urls.id FROM urls{filter} LIMIT {}",
        BROWSE_EXACT_ROWS + 1
    );
    let mut statement = db.prepare(&sql)?;
    let ids = statement.query_map(params_from_iter(&values), |row| row.get(0))?;
    let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
    if BROWSE_EXACT_ROWS < ids.len() as u64 {
        sample(db, search)
    } else {
        all_of(db, ids, search)
    }
}

/// Selects all rows of a list.
fn all_of(db: &Connection, mut ids: Vec<i64>, search: &SearchQuery) -> rusqlite::Result<Selection> {
    // Rows of one message are adjacent.
    ids.sort_unstable();
    let mut made = SelectionBuilder::new(db)?;
    let hidden = hidden(search);
    let sql = format!("SELECT {ROW}, {hidden} FROM urls WHERE id = ?1");
    let mut statement = db.prepare(&sql)?;
    for id in ids {
        let mut rows = statement.query([id])?;
        if let Some(row) = rows.next()? {
            made.add(row)?;
        }
    }
    let mut selection = made.finish(search.order)?;
    selection.total = selection.ids.len() as u64;
    Ok(selection)
}

/// Selects the rows of a sample and estimates the total.
fn sample(db: &Connection, search: &SearchQuery) -> rusqlite::Result<Selection> {
    let (filter, values) = search.filter()?;
    // The sample is materialized before conditions apply. Otherwise, SQLite could select rows by a
    // condition first and walk the list of rows or links again for each run.
    let runs = runs(db)?;
    let sql = format!(
        "WITH sample AS MATERIALIZED (SELECT {ROW} FROM {runs})
         SELECT {ROW}, {} FROM sample AS urls{filter}",
        hidden(search)
    );
    let mut made = SelectionBuilder::new(db)?;
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(&values))?;
    while let Some(row) = rows.next()? {
        made.add(row)?;
    }
    let mut selection = made.finish(search.order)?;
    let (all, examined) = (rows_of(db, "urls")?, rows_of(db, &runs)?);
    selection.sampled = Some(examined);
    let hidden = selection.hidden * all / examined.max(1);
    let found = selection.ids.len() as u64;
    selection.total = match (filter.is_empty(), hidden) {
        (true, hidden) => all - hidden,
        (false, 0) => (found * all / examined.max(1)).max(BROWSE_EXACT_ROWS + 1),
        (false, _) => found * all / examined.max(1),
    };
    selection.hidden = hidden;
    Ok(selection)
}

/// Columns that [`SelectionBuilder::add`] reads.
const ROW: &str = "urls.id, urls.cited, urls.source, urls.start, urls.message, urls.scheme, \
    urls.host, urls.domain, urls.link, urls.hazards, urls.author_by, urls.author_from, \
    urls.region";

/// Returns the condition for the rows that a search hides.
fn hidden(search: &SearchQuery) -> &'static str {
    if search.shows_list_fields {
        "0"
    } else {
        ONLY_IN_LIST_FIELDS
    }
}

/// Hazards of a row that has none.
const NO_HAZARDS: &str = "[]";

/// Returns the SQL tables that produce the sample: runs of adjacent rows.
fn runs(db: &Connection) -> rusqlite::Result<String> {
    let sql = "SELECT ifnull(min(id), 0), ifnull(max(id), 0) FROM urls";
    let (first, last): (i64, i64) = db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let length = BROWSE_SAMPLE_ROWS / BROWSE_SAMPLE_RUNS;
    let step = (last.saturating_sub(first) / BROWSE_SAMPLE_RUNS).max(length);
    Ok(format!(
        "(WITH RECURSIVE runs(run, number) AS (VALUES({first}, 1) UNION ALL SELECT run + {step}, \
         number + 1 FROM runs WHERE number < {BROWSE_SAMPLE_RUNS}) SELECT run FROM runs) CROSS \
         JOIN urls ON urls.id BETWEEN run AND run + {length} - 1"
    ))
}

/// Returns the number of rows of tables.
fn rows_of(db: &Connection, tables: &str) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM {tables}");
    let count: i64 = db.query_row(&sql, [], |row| row.get(0))?;
    Ok(count.cast_unsigned())
}

struct SelectionBuilder<'d> {
    db: &'d Connection,
    message: rusqlite::Statement<'d>,
    /// The last message, its sender and its lists.
    last: Option<(i64, Option<String>, Vec<String>)>,
    rows: Vec<Row>,
    counts: [Counts; FilterField::ALL.len()],
    /// Numbers of rows by link identifier.
    links: HashMap<i64, u64>,
    made: Selection,
}

impl<'d> SelectionBuilder<'d> {
    fn new(db: &'d Connection) -> rusqlite::Result<SelectionBuilder<'d>> {
        let sql = "SELECT sender, list_id, newsgroups FROM messages WHERE id = ?1";
        Ok(SelectionBuilder {
            db,
            message: db.prepare(sql)?,
            last: None,
            rows: Vec::new(),
            counts: Default::default(),
            links: HashMap::new(),
            made: Selection::default(),
        })
    }

    fn add(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        if row.get(13)? {
            self.made.hidden += 1;
            return Ok(());
        }
        let cited: Option<String> = row.get(1)?;
        match cited.as_deref().and_then(|cited| cited.get(..4)) {
            Some(year) => *self.made.years.entry(year.to_owned()).or_default() += 1,
            None => self.made.undated += 1,
        }
        for (top, column) in [
            (FilterField::Scheme, 5),
            (FilterField::Host, 6),
            (FilterField::Domain, 7),
        ] {
            if let Some(name) = row.get_ref(column)?.as_str_or_null().ok().flatten() {
                count(&mut self.counts[top as usize], name);
            }
        }
        if let Some(link) = row.get(8)? {
            *self.links.entry(link).or_default() += 1;
        }
        let hazards = row.get_ref(9)?.as_str_or_null().ok().flatten();
        if let Some(hazards) = hazards.filter(|hazards| *hazards != NO_HAZARDS) {
            for name in list_texts(hazards) {
                count(&mut self.counts[FilterField::Hazard as usize], &name);
            }
        }
        let message: i64 = row.get(4)?;
        if self.last.as_ref().is_none_or(|(last, ..)| *last != message) {
            let (sender, lists) = self.message.query_row([message], |row| {
                let sender: Option<String> = row.get(0)?;
                let list: Option<String> = row.get(1)?;
                let groups: Option<String> = row.get(2)?;
                let groups = list_texts(groups.as_deref().unwrap_or_default());
                let lists = list_names(list.as_deref(), &groups);
                Ok((sender.as_deref().map(sender_address), lists))
            })?;
            self.last = Some((message, sender, lists));
        }
        let is_inner =
            row.get_ref(10)?.as_str_or_null().ok().flatten() != Some(AuthorKind::Outer.name());
        let inner: Option<String> = if is_inner { row.get(11)? } else { None };
        let inner = inner.as_deref().map(sender_address);
        if let Some((_, outer, lists)) = &self.last {
            if let Some(sender) = if is_inner { &inner } else { outer } {
                count(&mut self.counts[FilterField::Sender as usize], sender);
            }
            for list in lists {
                count(&mut self.counts[FilterField::List as usize], list);
            }
        }
        self.rows.push(Row {
            id: row.get(0)?,
            cited,
            source: row.get(2)?,
            start: row.get(3)?,
        });
        Ok(())
    }

    fn finish(mut self, order: SearchOrder) -> rusqlite::Result<Selection> {
        self.rows.sort_unstable_by(|one, other| {
            let dates = match (&one.cited, &other.cited) {
                (Some(one), Some(other)) if order == SearchOrder::Newest => other.cmp(one),
                (Some(one), Some(other)) => one.cmp(other),
                // Rows without a date come last.
                (one, other) => one.is_none().cmp(&other.is_none()),
            };
            dates.then_with(|| one.cmp(other))
        });
        let mut made = self.made;
        made.ids = self.rows.into_iter().map(|row| row.id).collect();
        made.links = self.links.into_iter().collect();
        made.tops = self.counts.map(top);
        made.tops[FilterField::Key as usize] = top_links(self.db, &made.links)?;
        Ok(made)
    }
}

/// Returns the keys of the most frequent links with more than one row. Links with equal counts are
/// in loading order.
fn top_links(db: &Connection, links: &[(i64, u64)]) -> rusqlite::Result<Vec<(String, u64)>> {
    let several = links.iter().filter(|(_, count)| 1 < *count);
    let mut links: Vec<_> = several.copied().collect();
    links.sort_unstable_by_key(|(id, count)| (Reverse(*count), *id));
    links.truncate(BROWSE_TOP_NAMES);
    keys(db, &links)
}

/// Returns the keys of links, without links that a load has removed in the meantime.
fn keys(db: &Connection, links: &[(i64, u64)]) -> rusqlite::Result<Vec<(String, u64)>> {
    let links = links.iter().filter_map(|(id, count)| {
        let key = key_of_link(db, *id).transpose()?;
        Some(key.map(|key| (key, *count)))
    });
    links.collect()
}

/// Returns the key of a link, or `None` if a load has removed it in the meantime.
pub(super) fn key_of_link(db: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
    let mut key = db.prepare_cached("SELECT key FROM links WHERE id = ?1")?;
    key.query_row([id], |row| row.get(0)).optional()
}

/// Returns the keys of a range of the ordered links of a list. Omits links that a load has removed
/// in the meantime.
pub(super) fn links_page(
    db: &Connection,
    links: Vec<(i64, u64)>,
    order: LinkOrder,
    part: std::ops::Range<usize>,
) -> rusqlite::Result<Vec<(String, u64)>> {
    let links = ordered_links(db, links, order)?;
    // The list is shorter if links were removed.
    let end = part.end.min(links.len());
    keys(db, links.get(part.start..end).unwrap_or_default())
}

/// Returns the links of a list in the given order.
pub(super) fn ordered_links(
    db: &Connection,
    mut links: Vec<(i64, u64)>,
    order: LinkOrder,
) -> rusqlite::Result<Vec<(i64, u64)>> {
    links.sort_unstable();
    match order {
        LinkOrder::Citations => links.sort_by_key(|(_, count)| Reverse(*count)),
        LinkOrder::Address => {
            // Keys may be 64 KiB long.
            let sql = "SELECT substr(key, 1, 256) FROM links WHERE id = ?1";
            let mut start = db.prepare_cached(sql)?;
            let starts = links.into_iter().filter_map(|link| {
                let start = start.query_row([link.0], |row| row.get(0)).optional();
                let start: rusqlite::Result<String> = start.transpose()?;
                Some(start.map(|start| (start, link)))
            });
            let mut starts = starts.collect::<rusqlite::Result<Vec<_>>>()?;
            starts.sort_unstable();
            links = starts.into_iter().map(|(_, link)| link).collect();
        }
    }
    Ok(links)
}

/// Returns all links of a registrable domain and their numbers of citations.
pub(super) fn links_of_domain(
    db: &Connection,
    domain: &str,
    shows_list_fields: bool,
) -> rusqlite::Result<Vec<(i64, u64)>> {
    let sql = "SELECT id, citations FROM links
        WHERE domain = ?1 AND (?2 OR in_list_fields < citations)";
    let mut statement = db.prepare_cached(sql)?;
    let links = statement.query_map(params![domain, shows_list_fields], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
    })?;
    links.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::add_functions;

    /// Creates a database with the columns that are read. Every fourth row is from 1996 and cites
    /// `a.example`.
    fn database(rows: u64) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        add_functions(&db).unwrap();
        db.execute_batch(&format!(
            "CREATE TABLE urls(id INTEGER PRIMARY KEY, cited, source, start, message, scheme, \
                host, domain, link, hazards, author_by DEFAULT 'outer', author_from, region);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, sender, list_id, newsgroups, \
             message_id, reference_ids);
             CREATE TABLE links(id INTEGER PRIMARY KEY, host, domain, key, clean_key, \
             citations DEFAULT 9, in_list_fields DEFAULT 0);
             INSERT INTO links(id, host, domain, key, clean_key) VALUES
               (1, 'a.example', 'a.example', 'http://a.example/?id=1&utm_id=x', \
               'http://a.example/?id=1'),
               (2, 'b.example', 'b.example', 'http://b.example/', 'http://b.example/');
             INSERT INTO messages VALUES(1, 'Jane <Jane@m.example>', '<alt.lamps>', \
             '[\"alt.lamps\"]', '<1>', '[]');
             WITH RECURSIVE n(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM n WHERE n < {rows})
             INSERT INTO urls(id, cited, source, start, message, scheme, host, domain, link, \
             hazards)
             SELECT n, iif(n % 4 = 0, '1996', '1995') || '-01-01T00:00:00Z', 1, n, 1, 'http',
               iif(n % 4 = 0, 'a', 'b') || '.example', iif(n % 4 = 0, 'a', 'b') || '.example', \
               iif(n % 4 = 0, 1, 2),
               iif(n % 8 = 0, '[\"mismatch\",\"password\"]', '[]')
             FROM n"
        ))
        .unwrap();
        db
    }

    fn search(change: impl FnOnce(&mut SearchQuery)) -> SearchQuery {
        let mut query = SearchQuery::default();
        change(&mut query);
        query
    }

    #[test]
    fn a_short_list_is_complete() {
        let search = search(|query| query.domain = Some("a.example".to_owned()));
        let list = select(&database(400), &search).unwrap();
        assert_eq!((list.ids.len(), list.total, list.sampled), (100, 100, None));
        assert_eq!(list.ids[..2], [4, 8]);
        assert_eq!(list.years, BTreeMap::from([("1996".to_owned(), 100)]));
        let top = |top: FilterField| list.tops[top as usize].clone();
        assert_eq!(
            top(FilterField::Sender),
            [("jane@m.example".to_owned(), 100)]
        );
        assert_eq!(top(FilterField::List), [("alt.lamps".to_owned(), 100)]);
        let link = "http://a.example/?id=1&utm_id=x".to_owned();
        assert_eq!(top(FilterField::Key), [(link, 100)]);
        let hazards = ["mismatch", "password"].map(|name| (name.to_owned(), 50));
        assert_eq!(top(FilterField::Hazard), hazards);
    }

    #[test]
    fn hazards_and_clean_keys_select_rows() {
        let db = database(400);
        let hazard = search(|query| query.hazard = Some("password".to_owned()));
        assert_eq!(select(&db, &hazard).unwrap().ids[..2], [8, 16]);
        for (key, count) in [
            ("http://a.example/?id=1", 100),
            ("http://a.example/", 0),
            ("http://b.example/", 300),
        ] {
            let clean = SearchQuery {
                clean_key: Some(key.to_owned()),
                ..search(|_| {})
            };
            assert_eq!(select(&db, &clean).unwrap().ids.len(), count, "{key}");
            let both = SearchQuery {
                clean_key: Some(key.to_owned()),
                ..search(|query| query.domain = Some("a.example".to_owned()))
            };
            let count = if count == 100 { 100 } else { 0 };
            assert_eq!(select(&db, &both).unwrap().ids.len(), count, "{key}");
        }
    }

    #[test]
    fn links_only_in_list_fields_are_hidden_and_counted() {
        for rows in [400, 500_000] {
            let db = database(rows);
            db.execute_batch("UPDATE links SET in_list_fields = 9 WHERE id = 1")
                .unwrap();
            let list = select(&db, &search(|_| {})).unwrap();
            assert_eq!((list.total, list.hidden), (rows / 4 * 3, rows / 4));
            assert!(list.ids.iter().all(|id| id % 4 != 0), "{rows}");
            let both = select(&db, &search(|query| query.shows_list_fields = true)).unwrap();
            assert_eq!((both.total, both.hidden), (rows, 0));
        }
    }

    #[test]
    fn a_thread_has_the_messages_of_one_first_reference() {
        let db = database(9);
        db.execute_batch(
            r#"UPDATE urls SET message = id;
             INSERT INTO messages(id, message_id, reference_ids) VALUES
               (2, '<2>', '["<1>"]'), (3, '<3>', '["<1>","<2>"]'), (4, '<4>', '["<2>","<1>"]'),
               (5, '<5>', '["<1>\"x"]'), (6, '<1>', NULL), (7, '<1>', '["<5>"]'),
               (8, NULL, '[]'), (9, NULL, '["<1> "]');"#,
        )
        .unwrap();
        for (thread, rows) in [
            ("<1>", &[1, 2, 3, 6][..]),
            ("<2>", &[4]),
            ("<5>", &[7]),
            ("<1>\"x", &[5]),
            ("<1", &[]),
        ] {
            let thread = SearchQuery {
                thread: Some(thread.to_owned()),
                ..search(|query| query.since = Some(0))
            };
            let mut ids = select(&db, &thread).unwrap().ids;
            ids.sort_unstable();
            assert_eq!(ids, rows, "{:?}", thread.thread);
        }
    }

    #[test]
    fn lists_of_links_are_ordered_and_paged() {
        let db = database(400);
        let list = select(&db, &search(|_| {})).unwrap();
        let page = |order, part| links_page(&db, list.links.clone(), order, part).unwrap();
        let a = ("http://a.example/?id=1&utm_id=x".to_owned(), 100);
        let b = ("http://b.example/".to_owned(), 300);
        let both = [b.clone(), a.clone()];
        assert_eq!(page(LinkOrder::Citations, 0..2), both);
        assert_eq!(page(LinkOrder::Address, 0..2), [a.clone(), b]);
        assert_eq!(page(LinkOrder::Citations, 1..2), [a]);
        assert_eq!(page(LinkOrder::Address, 2..2), []);
        db.execute_batch("UPDATE links SET citations = 100 * id, in_list_fields = 199")
            .unwrap();
        assert_eq!(links_of_domain(&db, "b.example", false), Ok(vec![(2, 200)]));
        db.execute_batch("UPDATE links SET in_list_fields = 200")
            .unwrap();
        assert_eq!(links_of_domain(&db, "b.example", false), Ok(vec![]));
        assert_eq!(links_of_domain(&db, "b.example", true), Ok(vec![(2, 200)]));
    }

    #[test]
    fn removed_links_are_omitted() {
        let db = database(400);
        let list = select(&db, &search(|_| {})).unwrap();
        db.execute("DELETE FROM links WHERE id = 2", []).unwrap();
        let a = ("http://a.example/?id=1&utm_id=x".to_owned(), 100);
        for order in [LinkOrder::Citations, LinkOrder::Address] {
            let page = links_page(&db, list.links.clone(), order, 0..2).unwrap();
            assert_eq!(page, std::slice::from_ref(&a), "{order:?}");
        }
        // Also for the most cited links of a new list.
        let list = select(&db, &search(|_| {})).unwrap();
        assert_eq!(list.tops[FilterField::Key as usize], [a]);
    }

    #[test]
    fn a_long_list_is_a_sample_with_an_estimate() {
        let db = database(500_000);
        let list = select(&db, &search(|_| {})).unwrap();
        assert_eq!((list.total, list.ids.len()), (500_000, 15_000));
        assert_eq!(list.sampled, Some(15_000));
        let search = search(|query| query.domain = Some("a.example".to_owned()));
        let list = select(&db, &search).unwrap();
        assert_eq!((list.total, list.ids.len()), (125_000, 3_750));
    }
}

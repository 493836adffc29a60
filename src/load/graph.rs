//! The graph of who cites what in a database that was loaded: links, messages, threads, senders
//! and lists.
//!
//! Nodes and edges come in an order that depends on the records alone, and a node is named by a
//! hash of its kind and name, so that graphs of two databases have the same names for the same
//! things. Names that many messages share are collected in a temporary table of `SQLite`, so that
//! the memory does not grow with the archive.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use twox_hash::XxHash3_128;

use super::LoadError;
use super::citations::thread_of;
use super::sqlite::{open_to_read, sqlite_error};
use crate::record::{list_names, list_texts, sender_address};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A link; its name is its key.
    Link,
    /// A message, also one with copies in several mailboxes; its name is its digest.
    Message,
    /// A thread; its name is the Message-ID of its first message.
    Thread,
    /// A sender; its name is the address in lower case.
    Sender,
    /// A mailing list or a newsgroup.
    List,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name in the graph: letters and digits.
    pub id: String,
    /// The kind of the thing.
    pub kind: NodeKind,
    /// The name of the thing; of a message its subject.
    pub label: String,
    /// The date of a message, or the first of a link.
    pub date: Option<String>,
}

/// The kind of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// A sender sent a message.
    Sent,
    /// A message was posted to a list.
    Posted,
    /// A message is a part of a thread.
    InThread,
    /// A message replies to another one: to the nearest one of its references that is there.
    Replies,
    /// A message cites a link.
    Cites,
    /// A message quotes a link that another one had cited.
    Quotes,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node where it starts.
    pub source: String,
    /// The node where it ends.
    pub target: String,
    /// The kind of the edge.
    pub kind: EdgeKind,
    /// Number of its records; 1 for edges between other things than messages and links.
    pub weight: i64,
}

/// A node or an edge. All nodes come before the first edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphItem {
    /// A node.
    Node(Node),
    /// An edge.
    Edge(Edge),
}

impl NodeKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Link => "link",
            NodeKind::Message => "message",
            NodeKind::Thread => "thread",
            NodeKind::Sender => "sender",
            NodeKind::List => "list",
        }
    }

    /// Returns the name of a node in the graph.
    fn id(self, name: &str) -> String {
        let kind = self.name();
        let hash = XxHash3_128::oneshot(format!("{kind}\n{name}").as_bytes());
        format!("{kind}{hash:032x}")
    }
}

impl EdgeKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Sent => "sent",
            EdgeKind::Posted => "posted",
            EdgeKind::InThread => "in-thread",
            EdgeKind::Replies => "replies",
            EdgeKind::Cites => "cites",
            EdgeKind::Quotes => "quotes",
        }
    }
}

/// Gives the graph of the database at `path` to `each`, until that returns `false`.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn graph<E: From<LoadError>>(
    path: &Path,
    each: impl FnMut(&GraphItem) -> Result<bool, E>,
) -> Result<(), E> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    // One state of the database, also if another program loads meanwhile.
    db.execute_batch(&format!("BEGIN; {TEMPORARY}"))
        .map_err(named)?;
    collect(&db).map_err(named)?;
    let mut graph = Graph { path, each };
    graph.nodes(&db)?;
    graph.edges(&db)
}

/// Names of threads, senders and lists, and the messages of Message-IDs.
const TEMPORARY: &str = "
CREATE TEMP TABLE names(kind INTEGER, name TEXT, PRIMARY KEY(kind, name)) WITHOUT ROWID;
CREATE TEMP TABLE ids(message_id TEXT, digest TEXT, PRIMARY KEY(message_id, digest)) WITHOUT ROWID";

/// One row for each message: the first of its copies in several mailboxes.
const MESSAGES: &str = "SELECT digest, message_id, date, sender, subject, newsgroups, list_id,
  reference_ids FROM main.messages AS one
  WHERE NOT EXISTS (SELECT 1 FROM main.messages AS other
    WHERE other.digest = one.digest
      AND (ifnull(other.mailbox, ''), other.id) < (ifnull(one.mailbox, ''), one.id))
  ORDER BY digest, mailbox";

/// The links of a message: the key, 1 if it is quoted there, and the number of records.
const CITED: &str = "SELECT links.key, 0 < urls.quote_depth AS quoted, count(*)
  FROM main.messages JOIN main.urls ON urls.message = messages.id
    JOIN main.links ON links.id = urls.link
  WHERE messages.digest = ?1 GROUP BY links.key, quoted ORDER BY links.key, quoted";

/// A message as the graph needs it.
struct GraphMessage {
    digest: String,
    message_id: Option<String>,
    date: Option<String>,
    sender: Option<String>,
    subject: Option<String>,
    lists: Vec<String>,
    references: Vec<String>,
}

impl GraphMessage {
    fn of(row: &Row<'_>) -> rusqlite::Result<GraphMessage> {
        let texts = |index| -> rusqlite::Result<Vec<String>> {
            let list: Option<String> = row.get(index)?;
            Ok(list_texts(list.as_deref().unwrap_or_default()))
        };
        let sender: Option<String> = row.get(3)?;
        let list_id: Option<String> = row.get(6)?;
        let mut lists = list_names(list_id.as_deref(), &texts(5)?);
        lists.sort();
        Ok(GraphMessage {
            digest: row.get(0)?,
            message_id: row.get(1)?,
            date: row.get(2)?,
            sender: sender.as_deref().map(sender_address),
            subject: row.get(4)?,
            lists,
            references: texts(7)?,
        })
    }

    fn thread(&self) -> Option<String> {
        thread_of(&self.references, self.message_id.as_deref())
    }

    /// Returns the things beside links that the message is connected with, each with the kind of
    /// the edge and its name.
    fn names(&self) -> impl Iterator<Item = (NodeKind, EdgeKind, String)> {
        let sender = self.sender.clone();
        let sender = sender.map(|name| (NodeKind::Sender, EdgeKind::Sent, name));
        let lists = self.lists.clone().into_iter();
        let lists = lists.map(|name| (NodeKind::List, EdgeKind::Posted, name));
        let thread = self.thread();
        let thread = thread.map(|name| (NodeKind::Thread, EdgeKind::InThread, name));
        sender.into_iter().chain(lists).chain(thread)
    }
}

/// Fills the temporary tables.
fn collect(db: &Connection) -> rusqlite::Result<()> {
    let mut messages = db.prepare(MESSAGES)?;
    let mut put_name = db.prepare("INSERT OR IGNORE INTO temp.names VALUES(?1, ?2)")?;
    let mut put_id = db.prepare("INSERT OR IGNORE INTO temp.ids VALUES(?1, ?2)")?;
    let mut rows = messages.query([])?;
    while let Some(row) = rows.next()? {
        let message = GraphMessage::of(row)?;
        for (kind, _, name) in message.names() {
            put_name.execute(params![kind as i64, name])?;
        }
        if let Some(message_id) = &message.message_id {
            put_id.execute([message_id, &message.digest])?;
        }
    }
    Ok(())
}

struct Graph<'p, F> {
    path: &'p Path,
    each: F,
}

/// The end of a graph: an error, or a reader that wants no more.
type Given<E> = Result<bool, E>;

impl<E: From<LoadError>, F: FnMut(&GraphItem) -> Result<bool, E>> Graph<'_, F> {
    fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, E> {
        result.map_err(|error| sqlite_error(self.path, error).into())
    }

    /// Gives what `item` makes of each row of a query.
    fn rows(
        &mut self,
        db: &Connection,
        sql: &str,
        item: impl Fn(&Row<'_>) -> rusqlite::Result<Node>,
    ) -> Given<E> {
        let mut statement = self.named(db.prepare(sql))?;
        let mut rows = self.named(statement.query([]))?;
        while let Some(row) = self.named(rows.next())? {
            let node = self.named(item(row))?;
            if !(self.each)(&GraphItem::Node(node))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn nodes(&mut self, db: &Connection) -> Given<E> {
        let link = |row: &Row<'_>| {
            let key: String = row.get(0)?;
            Ok(Node {
                id: NodeKind::Link.id(&key),
                kind: NodeKind::Link,
                label: key,
                date: row.get(1)?,
            })
        };
        let message = |row: &Row<'_>| {
            let message = GraphMessage::of(row)?;
            Ok(Node {
                id: NodeKind::Message.id(&message.digest),
                kind: NodeKind::Message,
                label: message.subject.unwrap_or_default(),
                date: message.date,
            })
        };
        if !self.rows(db, "SELECT key, first FROM main.links ORDER BY key", link)?
            || !self.rows(db, MESSAGES, message)?
        {
            return Ok(false);
        }
        for kind in [NodeKind::Thread, NodeKind::Sender, NodeKind::List] {
            let sql = format!(
                "SELECT name FROM temp.names WHERE kind = {} ORDER BY name",
                kind as i64
            );
            let node = |row: &Row<'_>| {
                let label: String = row.get(0)?;
                Ok(Node {
                    id: kind.id(&label),
                    kind,
                    label,
                    date: None,
                })
            };
            if !self.rows(db, &sql, node)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn edges(&mut self, db: &Connection) -> Result<(), E> {
        let mut statement = self.named(db.prepare(MESSAGES))?;
        let mut rows = self.named(statement.query([]))?;
        while let Some(row) = self.named(rows.next())? {
            let message = self.named(GraphMessage::of(row))?;
            for edge in self.named(edges_of(db, &message))? {
                if !(self.each)(&GraphItem::Edge(edge))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Returns the edges of a message.
fn edges_of(db: &Connection, message: &GraphMessage) -> rusqlite::Result<Vec<Edge>> {
    let own = NodeKind::Message.id(&message.digest);
    let mut edges = Vec::new();
    for (kind, edge, name) in message.names() {
        let other = kind.id(&name);
        let (source, target) = match edge {
            EdgeKind::Sent => (other, own.clone()),
            _ => (own.clone(), other),
        };
        edges.push(Edge {
            source,
            target,
            kind: edge,
            weight: 1,
        });
    }
    if let Some(parent) = parent(db, message)? {
        edges.push(Edge {
            source: own.clone(),
            target: NodeKind::Message.id(&parent),
            kind: EdgeKind::Replies,
            weight: 1,
        });
    }
    let mut statement = db.prepare_cached(CITED)?;
    let mut rows = statement.query([&message.digest])?;
    while let Some(row) = rows.next()? {
        let (key, is_quoted): (String, bool) = (row.get(0)?, row.get(1)?);
        edges.push(Edge {
            source: own.clone(),
            target: NodeKind::Link.id(&key),
            kind: if is_quoted {
                EdgeKind::Quotes
            } else {
                EdgeKind::Cites
            },
            weight: row.get(2)?,
        });
    }
    Ok(edges)
}

/// Returns the digest of the nearest message of the references that is in the database.
fn parent(db: &Connection, message: &GraphMessage) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT digest FROM temp.ids WHERE message_id = ?1 AND digest != ?2
      ORDER BY digest LIMIT 1";
    let mut statement = db.prepare_cached(sql)?;
    for reference in message.references.iter().rev() {
        let found = statement.query_row([reference, &message.digest], |row| row.get(0));
        if let Some(digest) = found.optional()? {
            return Ok(Some(digest));
        }
    }
    Ok(None)
}

//! `urlspool graph`: the graph of who cites what, for Gephi and networkx.

use std::path::Path;

use super::args::{GraphArgs, GraphFormat};
use super::error::{CommandError, CommandResult, Exit};
use super::search::check_is_file;
use super::terminal::{StdoutLines, check_is_not_database};
use crate::diagnostic::{EscapeForm, printable};
use crate::load::{self, Edge, GraphItem, Node, is_file_of_database};
use crate::record::{FormulaGuard, TableSyntax};
use crate::sink::{OutputFile, Replacement, ReportOutputs, TableFolder};

/// The columns of the files that Gephi reads.
const NODE_COLUMNS: &str = "Id,Label,Kind,Date";
const EDGE_COLUMNS: &str = "Source,Target,Type,Kind,Weight";
const NODES: &str = "nodes.csv";
const EDGES: &str = "edges.csv";

pub(super) fn graph(args: &GraphArgs) -> CommandResult {
    check_is_file(&args.database)?;
    match (args.format, &args.out) {
        (GraphFormat::Graphml, None) => graphml(args),
        (GraphFormat::Csv, Some(folder)) => csv(args, folder),
        (GraphFormat::Csv, None) => Err(CommandError::new(
            Exit::Usage,
            format!("name a folder for {NODES} and {EDGES}: --as csv --out FOLDER"),
        )),
        (GraphFormat::Graphml, Some(_)) => Err(CommandError::new(
            Exit::Usage,
            "--out names the folder of --as csv; GraphML goes to standard output: `> FILE`",
        )),
    }
}

fn graphml(args: &GraphArgs) -> CommandResult {
    check_is_not_database(&args.database)?;
    let mut out = StdoutLines::new(EscapeForm::Text);
    out.put(GRAPHML_START.as_bytes())?;
    load::graph(&args.database, |item| -> Result<bool, CommandError> {
        out.put(graphml_line(item).as_bytes())
    })?;
    out.put(b"</graph>\n</graphml>\n")?;
    out.finish()?;
    Ok(Exit::Done)
}

const GRAPHML_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
<key id=\"kind\" for=\"all\" attr.name=\"kind\" attr.type=\"string\"/>
<key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>
<key id=\"date\" for=\"node\" attr.name=\"date\" attr.type=\"string\"/>
<key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>
<graph edgedefault=\"directed\">
";

fn graphml_line(item: &GraphItem) -> String {
    match item {
        GraphItem::Node(node) => {
            let date = node.date.as_deref().map_or_else(String::new, |date| {
                format!("<data key=\"date\">{}</data>", xml_text(date))
            });
            format!(
                "<node id=\"{}\"><data key=\"kind\">{}</data><data key=\"label\">{}</data>{date}\
                 </node>\n",
                node.id,
                node.kind.name(),
                xml_text(&node.label)
            )
        }
        GraphItem::Edge(edge) => format!(
            "<edge source=\"{}\" target=\"{}\"><data key=\"kind\">{}</data><data key=\"weight\">{}\
             </data></edge>\n",
            edge.source,
            edge.target,
            edge.kind.name(),
            edge.weight
        ),
    }
}

/// Returns a text of others as XML: markup, control characters and characters that XML 1.0 excludes
/// are escaped.
fn xml_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    escaped
}

fn csv(args: &GraphArgs, folder: &Path) -> CommandResult {
    let folder = TableFolder::create(folder)?;
    ReportOutputs {
        file: None,
        folder: Some(folder.path()),
        tables: &[
            (NODES, NODE_COLUMNS.to_owned()),
            (EDGES, EDGE_COLUMNS.to_owned()),
        ],
        replacement: if args.force {
            Replacement::Allowed
        } else {
            Replacement::Refused
        },
    }
    .check(|file| is_file_of_database(&args.database, file).then(|| "the database".to_owned()))?;
    let begun = |name, columns: &str| -> Result<OutputFile, CommandError> {
        let mut file = OutputFile::create(&folder.path().join(name))?;
        file.put(format!("{columns}\n").as_bytes())?;
        Ok(file)
    };
    let (mut nodes, mut edges) = (begun(NODES, NODE_COLUMNS)?, begun(EDGES, EDGE_COLUMNS)?);
    let mut line = Vec::new();
    load::graph(&args.database, |item| -> Result<bool, CommandError> {
        line.clear();
        let file = match item {
            GraphItem::Node(node) => {
                write_node(node, &mut line);
                &mut nodes
            }
            GraphItem::Edge(edge) => {
                write_edge(edge, &mut line);
                &mut edges
            }
        };
        file.put(&line)?;
        Ok(true)
    })?;
    nodes.finish()?;
    edges.finish()?;
    Ok(Exit::Done)
}

const SYNTAX: TableSyntax = TableSyntax::Csv {
    guard: FormulaGuard::On,
    delimiter: b',',
};

fn write_node(node: &Node, line: &mut Vec<u8>) {
    let label = printable(&node.label);
    let cells = [&*node.id, &label, node.kind.name()].map(Some);
    SYNTAX.write_cells(cells.into_iter().chain([node.date.as_deref()]), line);
}

fn write_edge(edge: &Edge, line: &mut Vec<u8>) {
    let weight = edge.weight.to_string();
    let cells = [
        &*edge.source,
        &edge.target,
        "Directed",
        edge.kind.name(),
        &weight,
    ];
    SYNTAX.write_cells(cells.map(Some), line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_neither_markup_nor_what_xml_excludes() {
        assert_eq!(
            xml_text("a<b>&\"]]>\u{1b}\u{0}\u{ffff}\u{202e}é"),
            "a&lt;b&gt;&amp;\"]]&gt;\\u{1b}\\u{0}\\u{ffff}\\u{202e}é"
        );
    }
}

//! The page of a command, from its arguments. The crate `clap_mangen` writes the options.

use clap::Command;
use clap_mangen::Man;

use super::roff::RoffPage;

/// The page of a command that was built.
pub(super) fn command_page(command: &Command) -> String {
    let man = Man::new(command.clone()).manual("User commands");
    let mut out = Vec::new();
    let is_program = command.has_subcommands();
    let rendered = man
        .render_title(&mut out)
        .and_then(|()| man.render_name_section(&mut out))
        .and_then(|()| man.render_synopsis_section(&mut out))
        .and_then(|()| man.render_description_section(&mut out))
        .and_then(|()| man.render_options_section(&mut out))
        .and_then(|()| {
            if is_program {
                man.render_subcommands_section(&mut out)
            } else {
                Ok(())
            }
        });
    rendered.expect("memory can be written");
    let options = String::from_utf8_lossy(&out).into_owned();
    let mut page = RoffPage::continued();
    blocks(command, &mut page);
    page.section("see also");
    page.paragraph(if command.get_name() == "audit" {
        "urlspool(1), urlspool-load(1), and a page for each step, such as urlspool-audit-plan(1)"
    } else if is_program {
        "urlspool.toml(5), urlspool-record(5), and a page for each subcommand, such as urlspool-scan(1)"
    } else {
        "urlspool(1), urlspool.toml(5), urlspool-record(5)"
    });
    options + &page.finish()
}

/// A section for each titled block of the text after the options.
fn blocks(command: &Command, page: &mut RoffPage) {
    let after = command.get_after_long_help().or(command.get_after_help());
    let text = after.map(ToString::to_string).unwrap_or_default();
    for block in text.split("\n\n") {
        if let Some((title, lines)) = block.split_once(":\n") {
            page.section(title);
            page.verbatim(lines);
        }
    }
}

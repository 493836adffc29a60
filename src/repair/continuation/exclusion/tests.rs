//! Tests of line breaks that cannot belong to a URL.

use crate::repair::continuation::tests::{FULL, check};

#[test]
fn a_git_repository_is_not_continued_by_a_branch_or_tag() {
    let repository = "git://git.a.example/pub/scm/linux/kernel/git/minutes/minutes.git";
    for reference in [
        "tags/minutes-2023",
        "for-linus",
        "minutes_pull",
        "refs/heads/next",
    ] {
        check(&format!("  «{repository}»¶    {reference}¶"));
        check(&format!("  «{repository}/»¶    {reference}¶"));
    }
    check(&format!("«{repository}/»¶«commit/?id=0123456789»¶"));
    check(&format!("«{repository}»¶«/commit/?id=0123456789»¶"));
    check("«https://a.example/archives/of/the/working/group/linux»¶tags/minutes-2023¶");
}

#[test]
fn other_notations_do_not_continue_a_url() {
    check(&format!("«{FULL}»¶drafts/index.html | 12 +++---"));
    for directive in ["include", "ifdef", "endif", "define"] {
        check(&format!("«{FULL}minutes»¶#{directive} <minutes.h>"));
        check(&format!("«{FULL}minutes»¶#{directive}"));
    }
    check(&format!("«{FULL}minutes»¶#syz fix: minutes"));
    check(&format!("«{FULL}index.html»¶?http://b.example/"));
    check("«https://a.example/archives/of/the/compiler-hint.html#toc170»¶5.5.1 Tail calls");
}

#[test]
fn names_of_files_hosts_and_mail_addresses_form_lists() {
    check(&format!("«{FULL}»¶‹drafts/one.c›¶drafts/two.c"));
    check("«http://a.example/details/minutes»¶archive.org/details/minutes");
    check(&format!("«{FULL}minutes»¶‹joe@b.com›¶"));
}

#[test]
fn rules_bullets_and_numbers_are_not_joined() {
    for sign in [
        "-----",
        "=====",
        "__x",
        "...",
        "~~~~",
        "-o-",
        "/* x",
        "* x",
        "12. Minutes",
        "3) Minutes",
        "++",
    ] {
        check(&format!("«{FULL}»¶{sign}"));
    }
}

#[test]
fn a_number_of_four_digits_is_not_a_list_item() {
    check(&format!("«{FULL}»¶«1997.»"));
    check(&format!("«{FULL}»¶997."));
}

#[test]
fn attributes_and_parameters_are_not_joined() {
    check(&format!("«{FULL}»¶name='minutes'"));
    check("access-type=x; url=«http://a.example/minutes;»¶size=1997");
}

#[test]
fn opening_and_closing_punctuation_begins_no_token() {
    for first in "[({*\\'^!,;:)]}$\"<`".chars() {
        check(&format!("«{FULL}»¶{first}drafts/index.html"));
    }
}

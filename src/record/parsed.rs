//! A URL as `urlspool parse` writes it.

use super::error::ErrorLine;
use super::object::{Object, field};
use super::parts::{Decoded, Parts};
use crate::grammar::{self, SchemeClass, UrlForm};
use crate::parse::{Grammar, Hazard, Verdicts, components, hazards, key};

/// Appends RFC 1738's reading of `input`, the first `url_len` octets of which are the URL, and a line end.
/// Whether RFC 1738 accepts it is given back.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let url = &input[..url_len];
    let verdicts = Verdicts::of(input, url_len);
    let read = verdicts.rfc1738.as_ref().ok();
    let accepted = verdicts.conforms().next().is_some();
    let latin1 = |octets: Vec<u8>| octets.into_iter().map(char::from).collect::<String>();
    let scheme_of = Some(components(url).scheme).filter(|_| accepted);
    let mut line = Object::open(out);
    line.text(field!("input"), input);
    line.value(field!("ok"), &read.is_some());
    match scheme_of {
        Some(scheme) => line.lower(field!("scheme"), scheme),
        None => line.null(field!("scheme")),
    }
    line.maybe_name(
        field!("scheme_class"),
        scheme_of.map(|scheme| SchemeClass::of(scheme).name()),
    );
    line.maybe_name(field!("form"), read.map(|url| url.form.name()));
    if let Some(fragment) = input.get(url_len + 1..) {
        line.text(field!("fragment"), fragment);
    }
    match read
        .map(Parts::Rfc1738)
        .or_else(|| accepted.then(|| Parts::Generic(components(url))))
    {
        Some(parts) => line.cut_from(url, |line| {
            line.object(field!("parts"), |line| parts.write(line))
        }),
        None => line.null(field!("parts")),
    }
    line.value(field!("decoded"), &read.map(Decoded));
    match read.map(|url| &url.form) {
        Some(UrlForm::Ftp(ftp)) => {
            let commands = ftp
                .commands()
                .into_iter()
                .map(|c| [c.verb.to_owned(), latin1(c.argument)]);
            line.value(field!("commands"), &commands.collect::<Vec<_>>());
        }
        Some(UrlForm::Gopher(gopher)) => line.value(field!("request"), &latin1(gopher.request())),
        _ => {}
    }
    line.names(
        field!("warnings"),
        read.iter()
            .flat_map(|url| url.warnings())
            .map(grammar::Warning::name),
    );
    line.value(
        field!("error"),
        &verdicts
            .rfc1738
            .as_ref()
            .err()
            .copied()
            .map(ErrorLine::from),
    );
    line.names(field!("conforms"), verdicts.conforms().map(Grammar::name));
    line.maybe(field!("href"), verdicts.href().map(str::as_bytes));
    line.maybe(field!("key"), accepted.then(|| key(url)).as_deref());
    let hazards = if accepted {
        hazards(url, &verdicts)
    } else {
        Vec::new()
    };
    line.names(field!("hazards"), hazards.into_iter().map(Hazard::name));
    line.close();
    out.push(b'\n');
    read.is_some()
}

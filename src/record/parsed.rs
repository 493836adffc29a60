//! One URL as `urlspool parse` writes it: RFC 1738's reading, and the verdicts of the other grammars.

use super::other_lines::GrammarErrorJson;
use super::parts::{Decoded, Object, Parts, field};
use crate::grammar::{self, SchemeClass, Url, UrlForm};
use crate::parse::{Grammar, Hazard, Verdicts, hazards, key};

/// Appends RFC 1738's reading of `input`, of which the first `url_len` bytes are the URL, as one line.
///
/// Returns `true` if RFC 1738 accepts it.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let verdicts = Verdicts::of(input, url_len);
    let reading = verdicts.rfc1738.as_ref();
    let mut line = Object::open(out);
    line.text(field!("input"), input);
    line.value(field!("ok"), &reading.is_ok());
    write_scheme(&mut line, &verdicts);
    line.optional_name(field!("form"), reading.ok().map(|url| url.form.name()));
    if let Some(fragment) = input.get(url_len + 1..) {
        line.text(field!("fragment"), fragment);
    }
    // Without a fragment split off, a `#` and what follows it are part of nothing.
    let url = &input[..memchr::memchr(b'#', input).map_or(url_len, |hash| hash.min(url_len))];
    write_parts(&mut line, url, &verdicts);
    line.value(field!("decoded"), &reading.ok().map(Decoded));
    if let Ok(url) = reading {
        write_protocol(&mut line, url);
    }
    line.names(
        field!("warnings"),
        reading
            .iter()
            .flat_map(|url| url.warnings())
            .map(grammar::Warning::name),
    );
    let error = reading.err().copied().map(GrammarErrorJson::from);
    line.value(field!("error"), &error);
    write_verdicts(&mut line, url, &verdicts);
    line.close();
    out.push(b'\n');
    verdicts.rfc1738.is_ok()
}

/// Returns `true` if one of the grammars accepts the URL. No other text has a scheme, a key or hazards.
fn is_accepted(verdicts: &Verdicts<'_>) -> bool {
    verdicts.conforms().next().is_some()
}

fn write_scheme(line: &mut Object<'_>, verdicts: &Verdicts<'_>) {
    let scheme = Some(verdicts.components.scheme).filter(|_| is_accepted(verdicts));
    match scheme {
        Some(scheme) => line.lowercase_text(field!("scheme"), scheme),
        None => line.null(field!("scheme")),
    }
    line.optional_name(
        field!("scheme_class"),
        scheme.map(|scheme| SchemeClass::of(scheme).name()),
    );
}

fn write_parts(line: &mut Object<'_>, url: &[u8], verdicts: &Verdicts<'_>) {
    let generic = || is_accepted(verdicts).then_some(Parts::Generic(verdicts.components));
    let rfc1738 = verdicts.rfc1738.as_ref().ok().map(Parts::Rfc1738);
    match rfc1738.or_else(generic) {
        Some(parts) => line.cut_from(url, |line| {
            line.object(field!("parts"), |line| parts.write(line))
        }),
        None => line.null(field!("parts")),
    }
}

/// Writes the commands of the protocol that fetch the URL, if its form has any.
fn write_protocol(line: &mut Object<'_>, url: &Url<'_>) {
    let latin1 = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect::<String>();
    match &url.form {
        UrlForm::Ftp(ftp) => {
            let commands: Vec<_> = ftp
                .commands()
                .into_iter()
                .map(|command| [command.verb.to_owned(), latin1(command.argument)])
                .collect();
            line.value(field!("commands"), &commands);
        }
        UrlForm::Gopher(gopher) => line.value(field!("request"), &latin1(gopher.request())),
        _ => {}
    }
}

fn write_verdicts(line: &mut Object<'_>, url: &[u8], verdicts: &Verdicts<'_>) {
    let is_accepted = is_accepted(verdicts);
    line.names(field!("conforms"), verdicts.conforms().map(Grammar::name));
    line.optional_text(field!("href"), verdicts.href().map(str::as_bytes));
    line.optional_text(field!("key"), is_accepted.then(|| key(url)).as_deref());
    let hazards = if is_accepted {
        hazards(url, verdicts)
    } else {
        Vec::new()
    };
    line.names(field!("hazards"), hazards.into_iter().map(Hazard::name));
}

//! `prosperourl` (RFC 1738 section 3.11).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{HostPort, hostport};
use super::super::reject::{Production, ProductionError, RejectKind, RejectPart, end, unexpected};
use super::ftp::fpath;
use super::slash;

/// `prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProsperoUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// `ppath`: the host-specific object name.
    pub hsoname: &'a [u8],
    /// The fields, in order.
    pub fields: Vec<ProsperoField<'a>>,
}

/// `fieldspec = ";" fieldname "=" fieldvalue`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProsperoField<'a> {
    /// `fieldname`
    pub name: &'a [u8],
    /// `fieldvalue`
    pub value: &'a [u8],
}

impl ProsperoUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.hsoname);
        for field in &self.fields {
            super::write_after(out, b";", Some(field.name));
            super::write_after(out, b"=", Some(field.value));
        }
    }
}

/// Parses `prosperourl`, after the `prospero://`. `ppath` and `fpath` are the same production.
pub(super) fn prosperourl(input: &[u8]) -> Result<ProsperoUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (hsoname, mut rest) = fpath(slash(RejectPart::Path, rest)?);
    let mut fields = Vec::new();
    while let Some(next) = rest.strip_prefix(b";") {
        let (field, after) = field(next)?;
        fields.push(field);
        rest = after;
    }
    let part = if fields.is_empty() {
        RejectPart::Path
    } else {
        RejectPart::Field
    };
    end(
        ProsperoUrl {
            hostport,
            hsoname,
            fields,
        },
        part,
        rest,
    )
}

/// Parses `fieldname "=" fieldvalue`, after the `;`.
fn field(input: &[u8]) -> Production<'_, ProsperoField<'_>> {
    let (name, rest) = run(CharSet::FIELD, input);
    let Some(rest) = rest.strip_prefix(b"=") else {
        let missing = ProductionError::new(RejectKind::Missing, RejectPart::Field, rest);
        return Err(if rest.is_empty() {
            missing
        } else {
            unexpected(RejectPart::Field, rest)
        });
    };
    let (value, rest) = run(CharSet::FIELD, rest);
    Ok((ProsperoField { name, value }, rest))
}

//! `prosperourl` (RFC 1738 section 3.11).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{HostPort, hostport};
use super::super::reject::{Production, ProductionError, RejectKind, RejectPart, end, stray};
use super::ftp::fpath;
use super::slash;

/// `prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProsperoUrl<'a> {
    /// Host and port.
    pub hostport: HostPort<'a>,
    /// The whole `ppath`: the host-specific object name.
    pub hsoname: &'a [u8],
    /// The names and values of the fields, in order.
    pub fields: Vec<(&'a [u8], &'a [u8])>,
}

impl ProsperoUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.hsoname);
        for (name, value) in &self.fields {
            super::write_after(out, b";", Some(name));
            super::write_after(out, b"=", Some(value));
        }
    }
}

/// `prosperourl`. The `prospero://` has been read. `psegment` has the characters of `fsegment`.
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

/// `fieldname "=" fieldvalue`. The `;` has been read.
fn field(input: &[u8]) -> Production<'_, (&[u8], &[u8])> {
    let (name, rest) = run(CharSet::FIELD, input);
    let Some(rest) = rest.strip_prefix(b"=") else {
        let missing = ProductionError::new(RejectKind::Missing, RejectPart::Field, rest);
        return Err(if rest.is_empty() {
            missing
        } else {
            stray(RejectPart::Field, rest)
        });
    };
    let (value, rest) = run(CharSet::FIELD, rest);
    Ok(((name, value), rest))
}

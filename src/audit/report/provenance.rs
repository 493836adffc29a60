//! The origin of a report: the database, its plan and its sample.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use crate::audit::statistics::ratio;

/// The origin of a report.
#[derive(Clone, Debug)]
pub(super) struct Provenance {
    /// The name of the database, without its folder.
    pub(super) database: String,
    /// The values of `audit_meta`.
    meta: BTreeMap<String, String>,
    /// Strata of the sample by name; one without a sample.
    strata: BTreeMap<String, StratumSize>,
}

/// The size of a stratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StratumSize {
    /// Links that may be checked.
    pub(super) population: u64,
    /// Links that are planned.
    pub(super) sampled: u64,
}

impl StratumSize {
    /// The number of links that a link of the sample stands for.
    fn weight(self) -> f64 {
        if self.sampled == 0 {
            return 1.0;
        }
        ratio(self.population, self.sampled)
    }
}

impl Provenance {
    /// Reads the origin from the database at `path`.
    pub(super) fn read(db: &Connection, path: &Path) -> rusqlite::Result<Provenance> {
        let mut meta = db.prepare("SELECT name, value FROM audit_meta")?;
        let mut strata = db.prepare("SELECT stratum, population, sampled FROM audit_strata")?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Provenance {
            database: name.to_string_lossy().into_owned(),
            meta: meta
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?,
            strata: strata
                .query_map([], |row| {
                    let size = StratumSize {
                        population: row.get::<_, i64>(1)?.cast_unsigned(),
                        sampled: row.get::<_, i64>(2)?.cast_unsigned(),
                    };
                    Ok((row.get(0)?, size))
                })?
                .collect::<rusqlite::Result<_>>()?,
        })
    }

    /// A value of `audit_meta`; `None` if it is missing or empty.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let value = self.meta.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// The strata of the sample; none without a sample.
    pub(super) fn strata(&self) -> impl Iterator<Item = (&str, StratumSize)> {
        let is_sample = self.value("sample").is_some();
        let strata = self.strata.iter().filter(move |_| is_sample);
        strata.map(|(name, size)| (name.as_str(), *size))
    }

    /// The number of links that a link of the sample stands for.
    pub(super) fn weight(&self, stratum: &str) -> f64 {
        self.strata.get(stratum).map_or(1.0, |size| size.weight())
    }
}

//! Keyword arguments as scan options.
//!
//! `_options.py` has checked their types: each comes with its texts. A flag that is set has none.

use std::fmt::Display;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use urlspool_files::config::{
    CONFIG_VARIABLE, Config, ConfigError, NamedValue, hazard_name, host_of, region_name,
};
use urlspool_files::evidence::{EvidenceSource, read_evidence};
use urlspool_files::options::{
    ScanOptions, context_bytes, date_period, field_name, is_period_empty, list_name, named_fields,
    scheme_name, threads,
};
use urlspool_files::pipeline::{Job, raise_open_files};
use urlspool_record::extract::Extractor;
use urlspool_record::record::{Demand, FieldId, LineFormat};
use urlspool_sources::walk::SymlinkPolicy;

/// The given keywords, each with its texts.
pub(crate) type Keywords = Vec<(String, Vec<PathBuf>)>;

/// Evidence for joins, shared by the scans of a process.
#[pyclass(frozen, module = "urlspool._urlspool")]
pub(crate) struct Evidence(pub(crate) EvidenceSource);

#[pymethods]
impl Evidence {
    /// Reads the content of an evidence file. `options` contain the limit on its URLs.
    #[new]
    fn new(py: Python<'_>, content: &[u8], options: Keywords) -> PyResult<Evidence> {
        let max_urls = Request::of(&options)?.options.config.limits.evidence_urls;
        let read = py.detach(|| read_evidence(content, max_urls));
        let wrong = |error| value_error(format!("evidence: {error}"));
        Ok(Evidence(EvidenceSource::Read(read.map_err(wrong)?)))
    }
}

/// A scan described by keywords.
pub(crate) struct Request {
    pub(crate) options: ScanOptions,
    /// The chosen fields, in the order of the record; `None` for whole records.
    pub(crate) fields: Option<Vec<FieldId>>,
    /// `true` if any event is an error.
    pub(crate) strict: bool,
}

impl Request {
    /// Parses keywords.
    ///
    /// # Errors
    ///
    /// A `ValueError` that names the keyword whose value is invalid.
    pub(crate) fn of(keywords: &Keywords) -> PyResult<Request> {
        let config = keywords.iter().find(|(name, _)| name == "config");
        let given = config.and_then(|(_, paths)| Some(paths.first()?.as_path()));
        let mut request = Request {
            options: ScanOptions {
                config: Config::of_scan(given)
                    .map_err(|error| config_error(&error, given.is_some()))?,
                ..ScanOptions::default()
            },
            fields: None,
            strict: false,
        };
        for (name, texts) in keywords {
            request.set(&Keyword { name, texts })?;
        }
        // Read last, because the limit on its URLs may be set above.
        if let Some((_, paths)) = keywords.iter().find(|(name, _)| name == "evidence")
            && let Some(path) = paths.first()
        {
            let max_urls = request.options.config.limits.evidence_urls;
            let read = || EvidenceSource::named(path, max_urls);
            request.options.evidence = Some(Python::attach(|py| py.detach(read))?);
        }
        let is_given = |wanted| keywords.iter().any(|(name, _)| name == wanted);
        if is_given("fields") && is_given("slim") {
            let message = "fields and slim cannot be used together";
            return Err(PyValueError::new_err(message));
        }
        let options = &mut request.options;
        options.config.check_header_fields().map_err(value_error)?;
        options.config.check_filters().map_err(value_error)?;
        if is_period_empty(options.since, options.until) {
            let message = "since is not before until; swap them";
            return Err(PyValueError::new_err(message));
        }
        Ok(request)
    }

    /// Sets the option of a keyword.
    fn set(&mut self, keyword: &Keyword<'_>) -> PyResult<()> {
        let options = &mut self.options;
        let extract = &mut options.config.extract;
        match keyword.name {
            "config" | "evidence" => {}
            "rules" => extract.rules = keyword.one(named)?,
            "accept" => extract.accept = keyword.each(named)?,
            "schemes" => extract.schemes = keyword.each(scheme_name)?,
            "extra_schemes" => extract.extra_schemes = keyword.each(scheme_name)?,
            "header_fields" => extract.header_fields = keyword.each(str::parse::<String>)?,
            "context" => extract.context = keyword.one(context_bytes)?,
            "no_header_urls" => extract.headers = false,
            "no_html" => extract.html = false,
            "attachments" => extract.attachments = keyword.one(named)?,
            "schemeless" => extract.schemeless = keyword.one(named)?,
            "strip_recipient" => extract.strip_recipient = true,
            "unique" => extract.unique = keyword.one(named)?,
            "limits" => {
                for setting in keyword.each(str::parse::<String>)? {
                    let wrong = |error| value_error(format!("limits: {error}"));
                    options.config.set(&setting).map_err(wrong)?;
                }
            }
            "fields" => {
                let chosen = named_fields(&keyword.each(field_name)?).unwrap_or_default();
                self.fields = Some(in_record_order(&chosen));
            }
            "slim" => self.fields = Some(in_record_order(&FieldId::slim())),
            "host" => extract.host = keyword.each(|text| host_of(text, "domain"))?,
            "domain" => extract.domain = keyword.each(|text| host_of(text, "domain"))?,
            "region" => extract.region = keyword.each(region_name)?,
            "mismatch" => extract.mismatch = true,
            "exclude_domains" => extract.exclude_domains = keyword.each(str::parse::<String>)?,
            "hazard" => extract.hazard = keyword.each(hazard_name)?,
            "list" => options.lists = keyword.each(list_name)?,
            "kind" => options.kind = keyword.one(named)?,
            "since" => options.since = Some(keyword.one(date_period)?),
            "until" => options.until = Some(keyword.one(date_period)?),
            "threads" => options.threads = Some(keyword.one(threads)?),
            "strict" => self.strict = true,
            "include" => options.include = keyword.each(str::parse::<String>)?,
            "exclude" => options.exclude = keyword.each(str::parse::<String>)?,
            "follow_links" => options.links = SymlinkPolicy::Follow,
            "absolute" => extract.absolute = true,
            other => {
                let message = format!("unknown option {other:?}");
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(())
    }

    /// The format of the records: values of the chosen fields.
    pub(crate) fn format(&self) -> LineFormat {
        LineFormat::Values(self.fields.clone().unwrap_or_else(|| FieldId::ALL.to_vec()))
    }

    /// Creates the job that reads files and folders.
    pub(crate) fn job(&self, roots: Vec<PathBuf>) -> PyResult<Job> {
        raise_open_files();
        let job = self.options.job(roots, None, self.format());
        job.map_err(value_error)
    }

    /// Creates the extractor with these options.
    pub(crate) fn extractor(&self) -> Extractor {
        Extractor::new(self.options.extraction(&self.format(), Demand::Needed))
    }
}

fn in_record_order(chosen: &[FieldId]) -> Vec<FieldId> {
    let all = FieldId::ALL.iter().copied();
    all.filter(|field| chosen.contains(field)).collect()
}

/// A keyword and its texts.
struct Keyword<'k> {
    name: &'k str,
    texts: &'k [PathBuf],
}

impl Keyword<'_> {
    /// Parses each text.
    fn each<T, E: Display>(&self, parse: impl Fn(&str) -> Result<T, E>) -> PyResult<Vec<T>> {
        let parse = |given: &PathBuf| {
            let wrong = |reason: &dyn Display| {
                let (value, name) = (given.display(), self.name);
                value_error(format!("invalid value '{value}' for '{name}': {reason}"))
            };
            let text = given.to_str().ok_or_else(|| wrong(&"it is not UTF-8"))?;
            parse(text).map_err(|reason| wrong(&reason))
        };
        self.texts.iter().map(parse).collect()
    }

    /// Parses the only text.
    fn one<T, E: Display>(&self, parse: impl Fn(&str) -> Result<T, E>) -> PyResult<T> {
        let parsed = self.each(parse)?.pop();
        parsed.ok_or_else(|| value_error(format!("{} has no value", self.name)))
    }
}

/// Parses an option value by name.
fn named<V: NamedValue>(text: &str) -> Result<V, String> {
    V::named(text).ok_or_else(|| possible_values(V::all().map(V::name)))
}

fn possible_values<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("possible values are {}", names.join(", "))
}

fn value_error(message: impl Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Creates the exception for an unusable configuration file, with the faulty lines.
fn config_error(error: &ConfigError, is_given: bool) -> PyErr {
    let note = if is_given {
        String::new()
    } else {
        format!(" ({CONFIG_VARIABLE} names this file)")
    };
    let mut lines = vec![format!("{error}{note}")];
    lines.extend_from_slice(&error.excerpt);
    value_error(lines.join("\n"))
}

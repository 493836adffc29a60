//! A BagIt bag (RFC 8493) of a report: its page, its CSV files, lists of seeds for crawlers, and the
//! SHA-256 of each.
//!
//! Nothing is taken from the clock: the same database gives the same bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

use super::csv_files;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::save::{Seeds, seeds};
use crate::diagnostic::printable;
use crate::sink::{OutputFile, discardable_path};

/// The declaration of the format.
const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// The folder of the CSV files.
const TABLES: &str = "data/tables";

const REPORT: &str = "data/report.html";

/// The lists of seeds, a URL a line.
const SEEDS: [(&str, Seeds); 2] = [
    ("data/seeds/living.txt", Seeds::Living),
    ("data/seeds/unarchived.txt", Seeds::Unarchived),
];

/// Bytes that are read at once to hash a file.
const BUFFER_BYTES: usize = 64 << 10;

/// A bag that is being written, beside its place. It is removed if it is dropped before
/// [`Bag::finish`].
pub(super) struct Bag {
    folder: PathBuf,
    partial: PathBuf,
}

impl Bag {
    /// Begins the bag at `folder`. What a run that was killed has left beside it is removed.
    ///
    /// # Errors
    ///
    /// Something has the place of the folder, or it cannot be made.
    pub(super) fn create(folder: &Path) -> Result<Bag, AuditError> {
        // Without a slash at the end.
        let folder: PathBuf = folder.components().collect();
        if folder.symlink_metadata().is_ok() || folder.as_os_str() == "-" {
            return Err(AuditError::unusable(format!(
                "a bag is a new folder, and {} is none; name another one with `--bundle`",
                folder.display()
            )));
        }
        let partial = discardable_path(&folder);
        let unmade =
            |source| AuditError::output(&format!("make the bag {}", folder.display()), source);
        match fs::remove_dir_all(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unmade(error)),
            _ => {}
        }
        fs::create_dir(&partial).map_err(unmade)?;
        let bag = Bag {
            folder: folder.clone(),
            partial,
        };
        for folder in [TABLES, "data/seeds"] {
            fs::create_dir_all(bag.partial.join(folder)).map_err(unmade)?;
        }
        Ok(bag)
    }

    /// Returns the folder of the CSV files, while the bag is written.
    pub(super) fn tables(&self) -> PathBuf {
        self.partial.join(TABLES)
    }

    /// Adds the page and the seeds to the CSV files, and gives the folder its name. `database` is the
    /// path of the audit.
    pub(super) fn finish(
        self,
        audit: &AuditDb,
        database: &Path,
        page: &str,
    ) -> Result<(), AuditError> {
        self.put(REPORT, page)?;
        for (file, kind) in SEEDS {
            let urls = seeds(audit, kind)?;
            let lines: String = urls.iter().map(|url| format!("{url}\n")).collect();
            self.put(file, &lines)?;
        }
        let tables = csv_files::names().map(|name| format!("{TABLES}/{name}"));
        let mut payload = vec![REPORT.to_owned()];
        payload.extend(SEEDS.map(|(file, _)| file.to_owned()));
        payload.extend(tables);
        payload.sort_unstable();
        let (manifest, bytes) = self.manifest(&payload)?;
        let database = database.file_name().unwrap_or(database.as_os_str());
        let info = format!(
            "Bag-Software-Agent: urlspool {}\nExternal-Description: Link-rot audit of {}\n\
             Payload-Oxum: {bytes}.{}\n",
            env!("CARGO_PKG_VERSION"),
            printable(&database.to_string_lossy()),
            payload.len()
        );
        let tags = [
            ("bag-info.txt", info.as_str()),
            ("bagit.txt", DECLARATION),
            ("manifest-sha256.txt", &manifest),
        ];
        for (file, text) in tags {
            self.put(file, text)?;
        }
        let (manifest, _) = self.manifest(&tags.map(|(file, _)| file.to_owned()))?;
        self.put("tagmanifest-sha256.txt", &manifest)?;
        fs::rename(&self.partial, &self.folder).map_err(|source| {
            AuditError::output(&format!("make the bag {}", self.folder.display()), source)
        })
    }

    fn put(&self, name: &str, text: &str) -> Result<(), AuditError> {
        let mut file = OutputFile::create(&self.partial.join(name))?;
        file.put(text.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Returns the manifest of files, a line with hash and name for each, and the sum of their sizes.
    fn manifest(&self, files: &[String]) -> Result<(String, u64), AuditError> {
        let (mut manifest, mut bytes) = (String::new(), 0);
        for name in files {
            let path = self.partial.join(name);
            let (size, hash) = size_and_hash(&path).map_err(|source| {
                AuditError::output(&format!("read {}", path.display()), source)
            })?;
            bytes += size;
            manifest.push_str(&format!("{hash}  {name}\n"));
        }
        Ok((manifest, bytes))
    }
}

impl Drop for Bag {
    fn drop(&mut self) {
        // After `finish` there is none.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// Returns the size of a file, and its SHA-256 in hexadecimal digits.
fn size_and_hash(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let (mut buffer, mut size) = (vec![0; BUFFER_BYTES], 0);
    loop {
        let len = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 {
            let hash = data_encoding::HEXLOWER.encode(context.finish().as_ref());
            return Ok((size, hash));
        }
        size += len as u64;
        context.update(&buffer[..len]);
    }
}

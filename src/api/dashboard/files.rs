//! The built files of the dashboard, in memory: those in the program, or those of a directory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use rust_embed::utils::read_file_from_fs;
use rust_embed::{Embed, EmbeddedFile};

use crate::api::file::File;

/// The page of all addresses of the dashboard.
const INDEX: &str = "index.html";

/// A build has about 3 MiB. The limit keeps a mistyped directory from filling the memory.
const MAX_BYTES: u64 = 64 << 20;

/// A release build contains the files; a debug build reads them when it starts.
#[derive(Embed)]
#[folder = "dashboard/dist"]
#[allow_missing = true]
struct Built;

/// What a file contains, and the SHA-256 of that.
struct Content {
    bytes: Bytes,
    hash: [u8; 32],
}

type Contents = BTreeMap<String, Content>;

/// Files by path, such as `assets/app-1a2b.js`. None if the dashboard is not built.
#[derive(Default)]
pub struct DashboardFiles(BTreeMap<String, File>);

/// Why a directory is not served. Each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum DashboardInvalid {
    #[error("{path} has more than {} MiB, so it is not a built dashboard", MAX_BYTES >> 20, path = .0.display())]
    TooLarge(PathBuf),
    #[error("{path} cannot be read: {1}", path = .0.display())]
    Unreadable(PathBuf, io::Error),
}

impl DashboardFiles {
    /// The files of a directory, or those in the program if the path is empty.
    ///
    /// # Errors
    /// See [`DashboardInvalid`].
    pub fn load(dir: &Path) -> Result<Arc<Self>, DashboardInvalid> {
        static BUILT: LazyLock<Arc<DashboardFiles>> = LazyLock::new(|| {
            let files = Built::iter().filter_map(|path| Some((path.to_string(), Built::get(&path)?.into())));
            Arc::new(DashboardFiles::new(&files.collect()))
        });
        if dir.as_os_str().is_empty() {
            return Ok(Arc::clone(&BUILT));
        }
        if !dir.join(INDEX).is_file() {
            return Ok(Arc::default());
        }
        let mut files = Contents::new();
        let mut left = MAX_BYTES;
        match read_directory(dir, "", &mut left, &mut files) {
            Ok(()) => Ok(Arc::new(Self::new(&files))),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(DashboardInvalid::TooLarge(dir.to_owned()))
            }
            Err(error) => Err(DashboardInvalid::Unreadable(dir.to_owned(), error)),
        }
    }

    /// A file beside `x` named `x.br` or `x.gz` is its compressed copy.
    fn new(contents: &Contents) -> Self {
        let copy = |path: &str, end: &str| contents.get(&format!("{path}{end}")).map(|copy| copy.bytes.clone());
        let is_copy = |path: &str| {
            let original = path.strip_suffix(".br").or(path.strip_suffix(".gz"));
            original.is_some_and(|original| contents.contains_key(original))
        };
        let files = contents.iter().filter(|(path, _)| !is_copy(path)).map(|(path, content)| {
            let file = File {
                content_type: mime_guess::from_path(path).first_raw().unwrap_or("application/octet-stream"),
                hash: hex::encode(&content.hash[..16]),
                plain: content.bytes.clone(),
                brotli: copy(path, ".br"),
                gzip: copy(path, ".gz"),
            };
            (path.clone(), file)
        });
        Self(files.collect())
    }

    pub fn is_built(&self) -> bool {
        self.index().is_some()
    }

    pub fn index(&self) -> Option<&File> {
        self.get(INDEX)
    }

    pub fn get(&self, path: &str) -> Option<&File> {
        self.0.get(path)
    }
}

impl From<EmbeddedFile> for Content {
    fn from(file: EmbeddedFile) -> Self {
        let hash = file.metadata.sha256_hash();
        let bytes = match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        Self { bytes, hash }
    }
}

/// Reads all files below a directory. `prefix` is its path in the dashboard, `left` the bytes that it may have.
fn read_directory(dir: &Path, prefix: &str, left: &mut u64, files: &mut Contents) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            read_directory(&entry.path(), &format!("{path}/"), left, files)?;
        } else {
            *left = left.checked_sub(fs::metadata(entry.path())?.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            files.insert(path, read_file_from_fs(&entry.path())?.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_copies_belong_to_their_file_and_have_no_path_of_their_own() {
        let contents = [("a.js", "a"), ("a.js.br", "brotli"), ("a.js.gz", "gzip"), ("alone.gz", "z")];
        let contents = contents.map(|(path, text)| (path.to_owned(), Content { bytes: text.into(), hash: [0; 32] }));
        let files = DashboardFiles::new(&contents.into());
        let script = files.get("a.js").unwrap();
        let parts = (script.plain.as_ref(), script.brotli.as_deref(), script.gzip.as_deref());
        assert_eq!(parts, (b"a".as_slice(), Some(b"brotli".as_slice()), Some(b"gzip".as_slice())));
        assert!(files.get("a.js.br").is_none() && files.get("alone.gz").is_some());
    }

    #[test]
    fn a_directory_that_is_too_large_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(INDEX), "").unwrap();
        fs::create_dir(dir.path().join("videos")).unwrap();
        fs::File::create(dir.path().join("videos/long")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let refused = DashboardFiles::load(dir.path()).err().unwrap().to_string();
        assert_eq!(refused, format!("{} has more than 64 MiB, so it is not a built dashboard", dir.path().display()));
    }
}

//! The logo of this installation, the setting `dashboard.logo`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

use crate::api::file::File;

/// Where it is served.
pub const LOGO_PATH: &str = "/dashboard-logo";

/// The sign-in page loads it, so it must be small.
const MAX_BYTES: u64 = 64 << 10;

/// How every PNG file begins.
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// An SVG file may contain scripts. Browsers run none in `<img>`, and with this policy none in a window of its own.
const CONTENT_SECURITY_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

pub struct Logo(File);

/// Why a file cannot be the logo. Each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LogoInvalid {
    #[error("{path} cannot be read: {1}; name a PNG or SVG file that keymeter may read", path = .0.display())]
    Unreadable(PathBuf, io::Error),
    #[error("{path} has {1} bytes; name a PNG or SVG file of at most {max}", path = .0.display(), max = MAX_BYTES)]
    TooLarge(PathBuf, u64),
    #[error("{path} is neither a PNG nor an SVG file; convert it to one of them", path = .0.display())]
    UnknownType(PathBuf),
}

impl Logo {
    /// Reads the file. Its content decides what it is, not its name.
    ///
    /// # Errors
    /// See [`LogoInvalid`].
    pub fn load(path: &Path) -> Result<Self, LogoInvalid> {
        let unreadable = |error| LogoInvalid::Unreadable(path.to_owned(), error);
        let about = fs::metadata(path).map_err(unreadable)?;
        if !about.is_file() {
            return Err(LogoInvalid::UnknownType(path.to_owned()));
        }
        if about.len() > MAX_BYTES {
            return Err(LogoInvalid::TooLarge(path.to_owned(), about.len()));
        }
        let bytes = fs::read(path).map_err(unreadable)?;
        if bytes.starts_with(PNG_SIGNATURE) {
            Ok(Self(File::new("image/png", bytes)))
        } else if is_svg(&bytes) {
            Ok(Self(File::compressed("image/svg+xml", bytes)))
        } else {
            Err(LogoInvalid::UnknownType(path.to_owned()))
        }
    }

    /// The file; 304 if the client has it.
    pub fn answer(&self, request: &HeaderMap) -> Response {
        let mut answer = self.0.answer(request);
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
        answer
    }
}

/// Returns true for UTF-8 whose first element is `<svg`.
fn is_svg(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(after) = after_prolog_part(rest) {
        rest = after.trim_start();
    }
    let ends_name = |next: char| next.is_whitespace() || matches!(next, '>' | '/');
    rest.strip_prefix("<svg").is_some_and(|attributes| attributes.starts_with(ends_name))
}

/// What follows an XML declaration, a processing instruction, a comment or a document type. `None` for anything else.
fn after_prolog_part(text: &str) -> Option<&str> {
    if let Some(instruction) = text.strip_prefix("<?") {
        return Some(instruction.split_once("?>")?.1);
    }
    if let Some(comment) = text.strip_prefix("<!--") {
        return Some(comment.split_once("-->")?.1);
    }
    let doctype = text.strip_prefix("<!DOCTYPE")?;
    let (name, rest) = doctype.split_once('>')?;
    // Declarations of a document type are in brackets.
    if name.contains('[') { doctype.split_once(']')?.1.trim_start().strip_prefix('>') } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads a file with this content. Returns its media type, or the message without the path.
    fn load(content: &[u8]) -> Result<&'static str, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        load_path(file.path())
    }

    fn load_path(path: &Path) -> Result<&'static str, String> {
        let logo = Logo::load(path).map(|logo| logo.0.content_type);
        logo.map_err(|error| error.to_string().replacen(&path.display().to_string(), "FILE", 1))
    }

    fn png(bytes: usize) -> Vec<u8> {
        let mut file = PNG_SIGNATURE.to_vec();
        file.resize(bytes, 0);
        file
    }

    #[test]
    fn the_first_bytes_decide_that_a_file_is_a_png() {
        assert_eq!(load(&png(100)), Ok("image/png"));
        let unknown = Err("FILE is neither a PNG nor an SVG file; convert it to one of them".to_owned());
        for other in [&b"\x89PNG"[..], b"\xff\xd8\xff\xe0\0\x10JFIF", b"GIF89a", b"RIFF\x24\0\0\0WEBP", b""] {
            assert_eq!(load(other), unknown, "{other:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(load_path(dir.path()), unknown);
    }

    #[test]
    fn the_first_element_decides_that_a_file_is_an_svg() {
        for svg in [
            "<svg/>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>",
            "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- <p> by hand -->\n<svg\nwidth=\"1\"/>",
            "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/svg11.dtd\"><svg>",
            "<!DOCTYPE svg [\n<!ENTITY a \"b\">\n]>\n<svg>",
        ] {
            assert_eq!(load(svg.as_bytes()), Ok("image/svg+xml"), "{svg}");
        }
        for other in [
            "svg",
            "<svgs/>",
            "<html><svg/></html>",
            "<!doctype html><svg/>",
            "<!-- <svg/>",
            "<?xml version=\"1.0\"?><p/>",
            "<!DOCTYPE svg [",
            "<script/><svg/>",
        ] {
            assert!(load(other.as_bytes()).is_err(), "{other}");
        }
        assert!(load(b"<svg>\xff</svg>").is_err(), "not UTF-8");
    }

    #[test]
    fn a_logo_has_at_most_64_kib() {
        assert_eq!(load(&png(65_536)), Ok("image/png"));
        let refused = "FILE has 65537 bytes; name a PNG or SVG file of at most 65536".to_owned();
        assert_eq!(load(&png(65_537)), Err(refused));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let refused = load_path(Path::new("/nowhere/logo.png")).unwrap_err();
        let why = "No such file or directory (os error 2)";
        assert_eq!(refused, format!("FILE cannot be read: {why}; name a PNG or SVG file that keymeter may read"));
    }
}

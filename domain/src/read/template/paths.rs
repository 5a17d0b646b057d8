//! File paths and the targets of request lines: which parts name a cause and which are data.

use super::MASK;
use crate::text::split_last;
use alloc::string::String;

/// The first names of absolute paths on common systems (Filesystem Hierarchy Standard 3.0, macOS, Lambda).
#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv",
    "sys", "tmp", "usr", "var", "Users", "Volumes", "Library", "System", "Applications", "private", "nix", "data",
    "workspace",
];

/// The methods of HTTP (RFC 9110, RFC 5789).
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT"];

/// Whether a word is an HTTP method, in any case.
pub fn is_method(word: &str) -> bool {
    METHODS.iter().any(|method| word.eq_ignore_ascii_case(method))
}

/// Whether a text is a request line or its beginning: `GET /v1/orders/7 HTTP/1.1`.
pub fn is_request(text: &str) -> bool {
    let Some((method, target)) = text.split_once(' ') else { return false };
    METHODS.contains(&method) && (target.starts_with('/') || target.contains("://"))
}

/// Whether a text is a media type (RFC 6838): `text/plain`.
pub fn is_media_type(text: &str) -> bool {
    const KINDS: [&str; 8] = ["application", "audio", "font", "image", "message", "multipart", "text", "video"];
    let Some((kind, name)) = text.split_once('/') else { return false };
    KINDS.contains(&kind) && name.len() <= 80 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// Whether an address with this scheme names a stored object.
pub fn is_store(scheme: &str) -> bool {
    ["s3", "s3a", "gs", "abfs", "abfss", "wasbs", "hdfs", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Returns the length of the part of an address's path that names a bucket or container, if the host stores objects.
pub fn bucket(host: &str, path: &str) -> Option<usize> {
    let first = || path.get(1..)?.find('/').map(|at| at + 1);
    if host.ends_with(".amazonaws.com") {
        return match host {
            _ if host.starts_with("s3.") || host.starts_with("s3-") => first(),
            _ if host.contains(".s3.") || host.contains(".s3-") => Some(0),
            _ => None,
        };
    }
    if host.ends_with(".blob.core.windows.net") {
        return first();
    }
    // The JSON API: `/storage/v1/b/lake/o/7.csv`.
    if host == "storage.googleapis.com" { path.find("/o/").map(|at| at + 2).or_else(first) } else { None }
}

/// The endings of documents that people and systems exchange. Their names are data; those of a program's own files,
/// such as `app.yml`, say what is wrong.
#[rustfmt::skip]
const DOCUMENTS: &[&str] = &[
    "pdf", "csv", "tsv", "xlsx", "xls", "ods", "doc", "docx", "odt", "pptx", "png", "jpg", "jpeg", "gif", "webp", "heic", "tif",
    "tiff", "zip", "gz", "parquet", "avro", "orc", "ndjson", "jsonl", "eml", "mp3", "mp4", "mov", "dat",
    "bmp", "svg", "tga", "psd", "rtf", "odp", "ppt", "xlsm", "epub", "ics", "vcf", "msg", "wav", "flac", "ogg", "m4a", "avi",
    "mkv", "webm", "7z", "rar", "tgz", "bz2", "xz", "dcm",
];

/// First directories that hold data (Filesystem Hierarchy Standard 3.0): a file there may be data with other endings too.
const DATA_ROOTS: [&str; 4] = ["srv", "data", "mnt", "media"];

/// Whether a token is the name or path of a document.
pub fn is_document(core: &str) -> bool {
    let Some((stem, end)) = split_last(core, b'.') else { return false };
    if stem.is_empty() || !(2..=7).contains(&end.len()) || stem.contains("://") {
        return false;
    }
    // `Compression.Zip` is a class.
    let one_case = end.starts_with(char::is_lowercase) || end.ends_with(char::is_uppercase);
    if one_case && DOCUMENTS.iter().any(|known| end.eq_ignore_ascii_case(known)) {
        return true;
    }
    let Some(path) = core.strip_prefix('/') else { return false };
    let first = path.split('/').next().unwrap_or(path);
    // A file for a moment, but not a socket.
    if first == "tmp" || path.starts_with("var/tmp") {
        return !matches!(end, "sock" | "pid" | "lock" | "yml" | "yaml" | "toml" | "ini" | "conf")
            && end.bytes().all(|b| b.is_ascii_alphanumeric())
            && end.bytes().any(|b| b.is_ascii_alphabetic());
    }
    matches!(end, "json" | "xml" | "txt" | "html" | "log") && DATA_ROOTS.contains(&first) && !core.contains("conf")
}

/// Whether a path leads to a directory of data, and its last name has no ending yet.
pub fn begins_data(core: &str) -> bool {
    let Some(path) = core.strip_prefix('/') else { return false };
    let mut names = path.split('/');
    names.next().is_some_and(|first| DATA_ROOTS.contains(&first))
        && names.next_back().is_some_and(|last| !last.is_empty() && !last.contains('.'))
}

/// Whether a name ends like a file, of any kind: `privat.beancount`.
pub fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (2..=10).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase())
    })
}

/// Whether a name ends like a file of a program: its settings and locks.
pub fn is_of_program(name: &str) -> bool {
    const ENDINGS: [&str; 9] = ["yml", "yaml", "toml", "ini", "conf", "json", "properties", "lock", "env"];
    name.rsplit_once('.').is_some_and(|(_, end)| ENDINGS.contains(&end) && !name.bytes().any(|b| b.is_ascii_digit()))
}

/// Whether a token is a file's path rather than a route or a pointer into a document.
pub fn is_file(core: &str) -> bool {
    let drive = core.as_bytes().get(..3).is_some_and(|b| b[0].is_ascii_alphabetic() && b[1] == b':' && b[2] == b'\\');
    if drive || core.starts_with("\\\\") {
        return true;
    }
    let Some(rest) = core.strip_prefix('/') else { return false };
    let first = rest.split('/').next().unwrap_or(rest);
    let last = rest.rsplit('/').next().unwrap_or(rest);
    let ends_in_kind = last.rsplit_once('.').is_some_and(|(_, end)| super::words::FILE_ENDINGS.contains(&end));
    rest.contains('/') && (ROOTS.contains(&first) || ends_in_kind || rest.contains("/_") || rest.contains("/."))
}

/// Masks a path. A path without variable parts is a fixed location and stays. If one part varies, the path leads to
/// data: all directories are masked, and only a last name without a number stays.
pub fn mask_file(path: &str, masked: &str) -> String {
    if !masked.contains(MASK) {
        return String::from(masked);
    }
    let last_at = masked.rfind(['/', '\\']).unwrap_or(0);
    let last = &masked[last_at..];
    let mut out = String::from(MASK);
    // A directory's trailing slash is not a name, and neither is a variable last name.
    if last.len() > 1 && !last.contains(MASK) && !path.ends_with(['/', '\\']) {
        out.push_str(last);
    }
    out
}

/// Returns the base name of a file that PHP names in a message: `called in /app/src/Cart.php on line 33 and defined in …:11`.
pub fn called_file<'a>(core: &'a str, before: &[String; 2]) -> Option<&'a str> {
    let [last, second] = [before[0].as_str(), before[1].as_str()];
    let is_called = last == "in" && matches!(second, "called" | "defined");
    let (path, _) = core.split_once(".php").filter(|_| is_called)?;
    let name = path.rfind('/').map_or(path, |at| &path[at + 1..]);
    Some(name)
}

/// Returns the sheet's part of the place of a cell: `Prices!` of `Prices!AA3`.
pub fn sheet_of_cell(core: &str) -> Option<&str> {
    const LETTERS_MAX: usize = 3;
    let at = core.find('!')? + 1;
    let (sheet, cell) = core.split_at(at);
    let cell = cell.replace('$', "");
    let letters = cell.bytes().take_while(u8::is_ascii_uppercase).count();
    let is_cell = (1..=LETTERS_MAX).contains(&letters)
        && cell.len() > letters
        && cell[letters..].bytes().all(|b| b.is_ascii_digit());
    (sheet.len() > 1 && is_cell).then_some(sheet)
}

/// Returns the kind of a reference of Git, whose name is data: `refs/heads/`.
pub fn kind_of_ref(core: &str) -> Option<&str> {
    if !core.starts_with('r') {
        return None;
    }
    ["refs/heads/", "refs/tags/", "refs/remotes/"]
        .into_iter()
        .find(|kind| core.starts_with(kind) && core.len() > kind.len())
}

/// Returns the role's part of the name of its session, `arn:aws:sts::…:assumed-role/role/session`: whoever assumes a role
/// names the session.
pub fn assumed_role(core: &str) -> Option<&str> {
    let (before, named) = core.split_once(":assumed-role/")?;
    let role = named.find('/').filter(|_| before.starts_with("arn:"))?;
    Some(&core[..core.len() - named.len() + role])
}

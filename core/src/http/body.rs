//! The type of a body: as declared, unless its bytes contradict.

use super::page::looks_like_html;

/// How much of a body is looked at.
const HEAD: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Empty,
    Html,
    Xml,
    /// Or text, if it cannot be read.
    Json,
    Text,
    Other(String),
    /// The capture does not hold it: its type, or `unknown`, and its length, or 0.
    Absent(String, u64),
}

/// Signs with which files begin.
const SIGNS: [(&[u8], &str); 21] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x00asm", "application/wasm"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
];

/// Returns the kind of a body by the value of `Content-Type`, which may be empty, and its bytes.
pub(super) fn kind(content_type: &str, body: &[u8]) -> Kind {
    let bytes = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    if bytes.is_empty() {
        return Kind::Empty;
    }
    let declared = media_type(content_type);
    if let Some((_, name)) = SIGNS.iter().find(|(sign, _)| body.starts_with(sign)) {
        return Kind::Other((*name).to_owned());
    }
    if body.starts_with(b"RIFF") && body.get(8..12).is_some_and(|sign| sign == b"WEBP") {
        return Kind::Other("image/webp".to_owned());
    }
    if is_bmp(body) {
        return Kind::Other("image/bmp".to_owned());
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let controls = head.iter().filter(|byte| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F)).count();
    // A page with a stray control character is a page; of random bytes, every ninth is one.
    if controls > 1 && controls * 20 > head.len() || (controls > 0 && !is_text(&declared)) {
        return Kind::Other(named(&declared));
    }
    let text = String::from_utf8_lossy(head);
    let begins = |sign: u8| bytes[0] == sign;
    let may_be_json = begins(b'{') || begins(b'[');
    let is_xml = || text.starts_with("<?xml") || text.starts_with("<rss") || text.starts_with("<feed");
    match declared.as_str() {
        "text/html" | "application/xhtml+xml" => {
            if may_be_json {
                Kind::Json
            } else if is_xml() && !text.to_ascii_lowercase().contains("<html") && !text.contains("<!DOCTYPE html") {
                Kind::Xml
            } else {
                Kind::Html
            }
        }
        name if name.ends_with("json") || name.ends_with("json-seq") || name.ends_with("ndjson") => {
            if looks_like_html(&text) { Kind::Html } else { Kind::Json }
        }
        name if name.ends_with("/xml") || name.ends_with("+xml") => {
            if looks_like_html(&text) {
                Kind::Html
            } else {
                Kind::Xml
            }
        }
        name if is_text(name) => {
            if may_be_json {
                Kind::Json
            } else {
                Kind::Text
            }
        }
        name => {
            if looks_like_html(&text) {
                Kind::Html
            } else if is_xml() {
                Kind::Xml
            } else if !matches!(name, "" | "application/octet-stream" | "binary/octet-stream" | "unknown/unknown") {
                Kind::Other(named(name))
            } else if may_be_json {
                Kind::Json
            } else if text.contains('\u{FFFD}') && std::str::from_utf8(head).is_err_and(|e| e.error_len().is_some()) {
                Kind::Other(named(name))
            } else {
                Kind::Text
            }
        }
    }
}

fn is_text(name: &str) -> bool {
    name.starts_with("text/")
        || name.ends_with("json")
        || name.ends_with("xml")
        || matches!(
            name,
            "application/javascript"
                | "application/x-javascript"
                | "application/ecmascript"
                | "application/x-www-form-urlencoded"
                | "application/x-yaml"
                | "application/yaml"
                | "application/graphql"
                | "application/x-sh"
        )
}

/// Returns whether it is a BMP: four zero bytes in the file header, then the length of a known image header.
fn is_bmp(body: &[u8]) -> bool {
    body.starts_with(b"BM")
        && body.get(6..10) == Some(&[0; 4])
        && matches!(body.get(14..18), Some([12 | 16 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the type of an absent body, by the value of `Content-Type`.
pub(super) fn declared(content_type: &str) -> String {
    let name = media_type(content_type);
    if is_media_type(&name) { name } else { "unknown".to_owned() }
}

/// Returns a valid type, or that of arbitrary bytes.
fn named(name: &str) -> String {
    if is_media_type(name) { name.to_owned() } else { "application/octet-stream".to_owned() }
}

fn is_media_type(name: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty()
            && part.len() <= 80
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_'))
    };
    name.split_once('/').is_some_and(|(first, second)| is_name(first) && is_name(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_what_its_bytes_say_where_its_type_lies() {
        let other = |name: &str| Kind::Other(name.to_owned());
        for (declared, body, expected) in [
            ("text/html", &b""[..], Kind::Empty),
            ("", b" \r\n", Kind::Empty),
            ("text/html; charset=utf-8", b"<p>x", Kind::Html),
            ("TEXT/HTML", b"plain", Kind::Html),
            ("text/html", b"{\"a\":1}", Kind::Json),
            ("text/plain", b"<!doctype html><p>x", Kind::Text),
            ("text/plain", b"{\"a\":1}", Kind::Json),
            ("application/problem+json", b"{}", Kind::Json),
            ("application/json", b"<html>", Kind::Html),
            ("application/xml", b"<a/>", Kind::Xml),
            ("image/svg+xml", b"<svg/>", Kind::Xml),
            ("image/png", b"\x89PNG\r\n\x1a\n....", other("image/png")),
            ("text/html", b"\x89PNG\r\n\x1a\n....", other("image/png")),
            ("image/png", b"<html><title>404", Kind::Html),
            ("application/x-thing", b"\x01\x02\x00", other("application/x-thing")),
            ("odd thing\n", b"\x01\x02\x00", other("application/octet-stream")),
            ("", b"<!-- c --><!DOCTYPE html>", Kind::Html),
            ("", b"<?xml version='1.0'?><a/>", Kind::Xml),
            ("", b"[1]", Kind::Json),
            ("", b"hello", Kind::Text),
            ("text/plain", b"BMW and others, and other words", Kind::Text),
            ("", b"BM\x36\x00\x0c\x00\0\0\0\0\x36\0\0\0\x28\0\0\0....", other("image/bmp")),
            ("text/html", b"BM\x36\x00\x0c\x00\0\0\0\0\x36\0\0\0\x7c\0\0\0....", other("image/bmp")),
            ("image/x", b"BM\x00\x00\x0c\x00\0\0\0\0\x36\0\0\0\x29\0\0\0....", other("image/x")),
            ("", "你好".as_bytes(), Kind::Text),
            ("", b"\xff\xfe\xfd\xfc", other("application/octet-stream")),
            ("text/html", b"<p>one \x01 stray</p> and enough text around it to be a page", Kind::Html),
        ] {
            assert_eq!(kind(declared, body), expected, "{declared} {body:?}");
        }
    }
}

//! HTTP responses → views: short texts of named lines, with volatile parts masked.
//!
//! A view is made in one pass over the body and one over what of it is kept, O(n) on any input:
//!
//! ```text
//! status 404
//! header server nginx/1.18.0
//! title 404 Not Found
//! tags 0html 1head 2title 1body 2center 3h1
//! text 404 Not Found
//! ```

mod body;
mod echo;
mod elements;
mod fold;
mod headers;
mod json;
mod mask;
mod page;
mod preview;
mod random;
mod rules;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use crate::Error;
use body::Kind;
use echo::Echo;
use fold::{Lines, folded};
use mask::Masker;
use page::Wanted;
use preview::Log;
pub use preview::Masked;
pub use rules::MASKS;
use rules::Rule;

/// The names of all views, in the order of their lines.
pub const VIEWS: [&str; 7] = ["status", "headers", "title", "tags", "keys", "text", "body"];

/// A response, its body decoded.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The URL of the request; may be empty.
    pub url: &'a str,
    /// 0 if it is not known.
    pub status: i64,
    /// Names and values.
    pub headers: &'a [(&'a str, &'a str)],
    /// UTF-8 if it is text; what is not becomes U+FFFD.
    pub body: &'a [u8],
    /// The group it is in, if only responses of a group are compared.
    pub within: Option<&'a str>,
    /// The URL after redirects; may be empty.
    pub final_url: &'a str,
    /// The title in the capture, used if it does not hold the body; may be empty.
    pub title: &'a str,
    /// The length of a body that the capture does not hold, 0 if it does not tell; None if it holds the body.
    pub absent: Option<u64>,
}

/// The views to make, and the masks to apply.
pub struct Views {
    status: bool,
    headers: bool,
    title: bool,
    tags: bool,
    keys: bool,
    text: bool,
    body: bool,
    masker: Masker,
}

/// A view, and the title of the page as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Lines, the last without its end.
    pub text: String,
    /// Empty if there is none.
    pub title: String,
}

/// Buffers reused between responses.
#[derive(Default)]
struct Scratch {
    tags: String,
    lines: Lines,
    plain: String,
}

impl Views {
    /// Makes views and masks by their names in [`VIEWS`] and [`MASKS`].
    pub fn new(views: &[&str], masks: &[&str]) -> Result<Views, Error> {
        if let Some(name) = views.iter().find(|name| !VIEWS.contains(name)) {
            return Err(Error::new(format!("views has {name:?}; a view must be one of {}", VIEWS.join(", "))));
        }
        let has = |name| views.contains(&name);
        Ok(Views {
            status: has("status"),
            headers: has("headers"),
            title: has("title"),
            tags: has("tags"),
            keys: has("keys"),
            text: has("text"),
            body: has("body"),
            masker: Masker::new(masks)?,
        })
    }

    /// Returns the views of many responses, on the threads of the current rayon pool; None if stopped.
    pub fn make(&self, responses: &[Response<'_>], stop: &AtomicBool) -> Option<Vec<View>> {
        let one = |scratch: &mut Scratch, response: &Response<'_>| {
            (!stop.load(Relaxed)).then(|| self.view(response, scratch, None))
        };
        responses.par_iter().map_init(Scratch::default, one).collect()
    }

    /// Returns the view of one response, and its masked parts.
    pub fn masked(&self, response: &Response<'_>) -> (View, Vec<Masked>) {
        let mut log = Log::default();
        let view = self.view(response, &mut Scratch::default(), Some(&mut log));
        (view, log.masked)
    }

    fn view(&self, response: &Response<'_>, scratch: &mut Scratch, mut log: Option<&mut Log>) -> View {
        let mut out = String::new();
        let echo = self.masker.has(Rule::Echo).then(|| Echo::of(&[response.url, response.final_url]));
        if let Some(within) = response.within {
            // Not the value: a recipe's normalisation would make one of groups that differ in capitals alone.
            out.push_str(&format!("within {:032x}\n", xxhash_rust::xxh3::xxh3_128(within.as_bytes())));
        }
        if self.status && response.status != 0 {
            out.push_str(&format!("status {}\n", response.status));
        }
        if self.headers {
            headers::write(response.headers, &self.masker, echo.as_ref(), &mut out, log.as_deref_mut());
        }
        let title = self.body(response, echo.as_ref(), scratch, &mut out, log);
        while out.ends_with('\n') {
            out.pop();
        }
        View { text: out, title }
    }

    /// Writes the views of the body; returns the title.
    fn body(
        &self,
        response: &Response<'_>,
        echo: Option<&Echo<'_>>,
        scratch: &mut Scratch,
        out: &mut String,
        mut log: Option<&mut Log>,
    ) -> String {
        let Scratch { tags, lines, plain } = scratch;
        tags.clear();
        lines.clear();
        let content_type = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = content_type.map_or("", |(_, value)| value);
        let kind = match response.absent {
            None => body::kind(content_type, response.body),
            Some(length) => Kind::Absent(body::declared(content_type), length),
        };
        let mut title = if response.absent.is_some() { folded(response.title) } else { String::new() };
        let mut keys = Vec::new();
        let text = match kind {
            Kind::Empty | Kind::Other(_) | Kind::Absent(..) => "".into(),
            _ => text_of(response.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(response.body)),
        };
        match kind {
            Kind::Html | Kind::Xml => {
                let wanted = Wanted { tags: self.tags, text: self.text, xml: kind == Kind::Xml };
                title = page::read(&text, wanted, &self.masker, tags, lines, log.as_deref_mut());
            }
            Kind::Json | Kind::Text if self.keys || self.text => {
                let read = if kind == Kind::Json {
                    json::read(&text, &self.masker, self.text.then_some(&mut *lines), log.as_deref_mut())
                } else {
                    None
                };
                match read {
                    Some(paths) => keys = paths,
                    None => {
                        lines.clear();
                        for line in text.split('\n').filter(|_| self.text) {
                            lines.add("text", line);
                            lines.end();
                        }
                    }
                }
            }
            _ => {}
        }
        if self.title && !title.is_empty() {
            self.mask(&format!("title {title}\n"), echo, plain, out, log.as_deref_mut());
        }
        if !tags.is_empty() {
            out.push_str("tags ");
            out.push_str(tags);
            out.push('\n');
        }
        if self.keys && !keys.is_empty() {
            out.push_str("keys ");
            out.push_str(&keys.join(" "));
            out.push('\n');
        }
        self.mask(&lines.text, echo, plain, out, log);
        if self.body {
            match &kind {
                Kind::Empty => out.push_str("body empty\n"),
                Kind::Other(name) => out.push_str(&format!("body {name} {}\n", response.body.len().ilog2())),
                // The title tells the page; beside it, the type that all pages have would make them alike.
                Kind::Absent(..) if self.title && !title.is_empty() => {}
                Kind::Absent(name, 0) => out.push_str(&format!("body {name}\n")),
                Kind::Absent(name, length) => out.push_str(&format!("body {name} {}\n", length.ilog2())),
                _ => {}
            }
        }
        title
    }

    /// Copies lines with volatile parts masked.
    fn mask(
        &self,
        lines: &str,
        echo: Option<&Echo<'_>>,
        plain: &mut String,
        out: &mut String,
        mut log: Option<&mut Log>,
    ) {
        plain.clear();
        if echo.is_some_and(|echo| echo.mask(lines, plain, log.as_deref_mut())) {
            self.masker.lines(plain, out, log);
        } else {
            self.masker.lines(lines, out, log);
        }
    }
}

/// Decodes a body; invalid UTF-8 becomes U+FFFD. Validating first is several times faster.
fn text_of(body: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed)
}

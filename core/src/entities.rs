//! Character references: `&amp;`, `&#38;`, `&#x26;`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// The names of HTML 4 and those of HTML 5 that pages use, sorted: name, character, and whether it may lack its
/// semicolon.
#[rustfmt::skip]
const NAMES: [(&str, char, bool); 303] = [
    ("AElig", '\u{c6}', true), ("AMP", '\u{26}', true), ("Aacute", '\u{c1}', true), ("Acirc", '\u{c2}', true),
    ("Agrave", '\u{c0}', true), ("Alpha", '\u{391}', false), ("Aring", '\u{c5}', true), ("Atilde", '\u{c3}', true),
    ("Auml", '\u{c4}', true), ("Beta", '\u{392}', false), ("COPY", '\u{a9}', true), ("Ccedil", '\u{c7}', true),
    ("Chi", '\u{3a7}', false), ("Dagger", '\u{2021}', false), ("Delta", '\u{394}', false), ("ETH", '\u{d0}', true),
    ("Eacute", '\u{c9}', true), ("Ecirc", '\u{ca}', true), ("Egrave", '\u{c8}', true), ("Epsilon", '\u{395}', false),
    ("Eta", '\u{397}', false), ("Euml", '\u{cb}', true), ("GT", '\u{3e}', true), ("Gamma", '\u{393}', false),
    ("Hat", '\u{5e}', false), ("Iacute", '\u{cd}', true), ("Icirc", '\u{ce}', true), ("Igrave", '\u{cc}', true),
    ("Iota", '\u{399}', false), ("Iuml", '\u{cf}', true), ("Kappa", '\u{39a}', false), ("LT", '\u{3c}', true),
    ("Lambda", '\u{39b}', false), ("Mu", '\u{39c}', false), ("NewLine", '\u{a}', false),
    ("NoBreak", '\u{2060}', false), ("Ntilde", '\u{d1}', true), ("Nu", '\u{39d}', false), ("OElig", '\u{152}', false),
    ("Oacute", '\u{d3}', true), ("Ocirc", '\u{d4}', true), ("Ograve", '\u{d2}', true), ("Omega", '\u{3a9}', false),
    ("Omicron", '\u{39f}', false), ("Oslash", '\u{d8}', true), ("Otilde", '\u{d5}', true), ("Ouml", '\u{d6}', true),
    ("Phi", '\u{3a6}', false), ("Pi", '\u{3a0}', false), ("Prime", '\u{2033}', false), ("Psi", '\u{3a8}', false),
    ("QUOT", '\u{22}', true), ("REG", '\u{ae}', true), ("Rho", '\u{3a1}', false), ("Scaron", '\u{160}', false),
    ("Sigma", '\u{3a3}', false), ("THORN", '\u{de}', true), ("TRADE", '\u{2122}', false), ("Tab", '\u{9}', false),
    ("Tau", '\u{3a4}', false), ("Theta", '\u{398}', false), ("Uacute", '\u{da}', true), ("Ucirc", '\u{db}', true),
    ("Ugrave", '\u{d9}', true), ("Upsilon", '\u{3a5}', false), ("Uuml", '\u{dc}', true), ("Xi", '\u{39e}', false),
    ("Yacute", '\u{dd}', true), ("Yuml", '\u{178}', false), ("ZeroWidthSpace", '\u{200b}', false),
    ("Zeta", '\u{396}', false), ("aacute", '\u{e1}', true), ("acirc", '\u{e2}', true), ("acute", '\u{b4}', true),
    ("aelig", '\u{e6}', true), ("agrave", '\u{e0}', true), ("alefsym", '\u{2135}', false),
    ("alpha", '\u{3b1}', false), ("amp", '\u{26}', true), ("and", '\u{2227}', false), ("ang", '\u{2220}', false),
    ("apos", '\u{27}', false), ("aring", '\u{e5}', true), ("ast", '\u{2a}', false), ("asymp", '\u{2248}', false),
    ("atilde", '\u{e3}', true), ("auml", '\u{e4}', true), ("bdquo", '\u{201e}', false), ("beta", '\u{3b2}', false),
    ("brvbar", '\u{a6}', true), ("bsol", '\u{5c}', false), ("bull", '\u{2022}', false), ("cap", '\u{2229}', false),
    ("ccedil", '\u{e7}', true), ("cedil", '\u{b8}', true), ("cent", '\u{a2}', true), ("check", '\u{2713}', false),
    ("chi", '\u{3c7}', false), ("circ", '\u{2c6}', false), ("clubs", '\u{2663}', false), ("colon", '\u{3a}', false),
    ("comma", '\u{2c}', false), ("commat", '\u{40}', false), ("cong", '\u{2245}', false), ("copy", '\u{a9}', true),
    ("crarr", '\u{21b5}', false), ("cross", '\u{2717}', false), ("cup", '\u{222a}', false),
    ("curren", '\u{a4}', true), ("dArr", '\u{21d3}', false), ("dagger", '\u{2020}', false),
    ("darr", '\u{2193}', false), ("dash", '\u{2010}', false), ("deg", '\u{b0}', true), ("delta", '\u{3b4}', false),
    ("diams", '\u{2666}', false), ("divide", '\u{f7}', true), ("dollar", '\u{24}', false), ("eacute", '\u{e9}', true),
    ("ecirc", '\u{ea}', true), ("egrave", '\u{e8}', true), ("empty", '\u{2205}', false), ("emsp", '\u{2003}', false),
    ("ensp", '\u{2002}', false), ("epsilon", '\u{3b5}', false), ("equals", '\u{3d}', false),
    ("equiv", '\u{2261}', false), ("eta", '\u{3b7}', false), ("eth", '\u{f0}', true), ("euml", '\u{eb}', true),
    ("euro", '\u{20ac}', false), ("excl", '\u{21}', false), ("exist", '\u{2203}', false), ("fnof", '\u{192}', false),
    ("forall", '\u{2200}', false), ("frac12", '\u{bd}', true), ("frac14", '\u{bc}', true), ("frac34", '\u{be}', true),
    ("frasl", '\u{2044}', false), ("gamma", '\u{3b3}', false), ("ge", '\u{2265}', false), ("grave", '\u{60}', false),
    ("gt", '\u{3e}', true), ("hArr", '\u{21d4}', false), ("half", '\u{bd}', false), ("harr", '\u{2194}', false),
    ("hearts", '\u{2665}', false), ("hellip", '\u{2026}', false), ("horbar", '\u{2015}', false),
    ("hyphen", '\u{2010}', false), ("iacute", '\u{ed}', true), ("icirc", '\u{ee}', true), ("iexcl", '\u{a1}', true),
    ("igrave", '\u{ec}', true), ("image", '\u{2111}', false), ("infin", '\u{221e}', false),
    ("int", '\u{222b}', false), ("iota", '\u{3b9}', false), ("iquest", '\u{bf}', true), ("isin", '\u{2208}', false),
    ("iuml", '\u{ef}', true), ("kappa", '\u{3ba}', false), ("lArr", '\u{21d0}', false), ("lambda", '\u{3bb}', false),
    ("lang", '\u{2329}', false), ("laquo", '\u{ab}', true), ("larr", '\u{2190}', false), ("lbrace", '\u{7b}', false),
    ("lbrack", '\u{5b}', false), ("lceil", '\u{2308}', false), ("lcub", '\u{7b}', false),
    ("ldquo", '\u{201c}', false), ("le", '\u{2264}', false), ("lfloor", '\u{230a}', false),
    ("lowast", '\u{2217}', false), ("lowbar", '\u{5f}', false), ("loz", '\u{25ca}', false), ("lpar", '\u{28}', false),
    ("lrm", '\u{200e}', false), ("lsaquo", '\u{2039}', false), ("lsqb", '\u{5b}', false),
    ("lsquo", '\u{2018}', false), ("lt", '\u{3c}', true), ("macr", '\u{af}', true), ("mdash", '\u{2014}', false),
    ("micro", '\u{b5}', true), ("middot", '\u{b7}', true), ("minus", '\u{2212}', false), ("mu", '\u{3bc}', false),
    ("nabla", '\u{2207}', false), ("nbsp", '\u{a0}', true), ("ndash", '\u{2013}', false), ("ne", '\u{2260}', false),
    ("ni", '\u{220b}', false), ("not", '\u{ac}', true), ("notin", '\u{2209}', false), ("nsub", '\u{2284}', false),
    ("ntilde", '\u{f1}', true), ("nu", '\u{3bd}', false), ("num", '\u{23}', false), ("oacute", '\u{f3}', true),
    ("ocirc", '\u{f4}', true), ("oelig", '\u{153}', false), ("ograve", '\u{f2}', true), ("oline", '\u{203e}', false),
    ("omega", '\u{3c9}', false), ("omicron", '\u{3bf}', false), ("oplus", '\u{2295}', false),
    ("or", '\u{2228}', false), ("ordf", '\u{aa}', true), ("ordm", '\u{ba}', true), ("oslash", '\u{f8}', true),
    ("otilde", '\u{f5}', true), ("otimes", '\u{2297}', false), ("ouml", '\u{f6}', true), ("para", '\u{b6}', true),
    ("part", '\u{2202}', false), ("percnt", '\u{25}', false), ("period", '\u{2e}', false),
    ("permil", '\u{2030}', false), ("perp", '\u{22a5}', false), ("phi", '\u{3c6}', false),
    ("phone", '\u{260e}', false), ("pi", '\u{3c0}', false), ("piv", '\u{3d6}', false), ("plus", '\u{2b}', false),
    ("plusmn", '\u{b1}', true), ("pound", '\u{a3}', true), ("prime", '\u{2032}', false), ("prod", '\u{220f}', false),
    ("prop", '\u{221d}', false), ("psi", '\u{3c8}', false), ("quest", '\u{3f}', false), ("quot", '\u{22}', true),
    ("rArr", '\u{21d2}', false), ("radic", '\u{221a}', false), ("rang", '\u{232a}', false), ("raquo", '\u{bb}', true),
    ("rarr", '\u{2192}', false), ("rbrace", '\u{7d}', false), ("rbrack", '\u{5d}', false),
    ("rceil", '\u{2309}', false), ("rcub", '\u{7d}', false), ("rdquo", '\u{201d}', false),
    ("real", '\u{211c}', false), ("reg", '\u{ae}', true), ("rfloor", '\u{230b}', false), ("rho", '\u{3c1}', false),
    ("rlm", '\u{200f}', false), ("rpar", '\u{29}', false), ("rsaquo", '\u{203a}', false), ("rsqb", '\u{5d}', false),
    ("rsquo", '\u{2019}', false), ("sbquo", '\u{201a}', false), ("scaron", '\u{161}', false),
    ("sdot", '\u{22c5}', false), ("sect", '\u{a7}', true), ("semi", '\u{3b}', false), ("shy", '\u{ad}', true),
    ("sigma", '\u{3c3}', false), ("sigmaf", '\u{3c2}', false), ("sim", '\u{223c}', false), ("sol", '\u{2f}', false),
    ("spades", '\u{2660}', false), ("star", '\u{2606}', false), ("starf", '\u{2605}', false),
    ("sub", '\u{2282}', false), ("sube", '\u{2286}', false), ("sum", '\u{2211}', false), ("sup", '\u{2283}', false),
    ("sup1", '\u{b9}', true), ("sup2", '\u{b2}', true), ("sup3", '\u{b3}', true), ("supe", '\u{2287}', false),
    ("szlig", '\u{df}', true), ("tau", '\u{3c4}', false), ("there4", '\u{2234}', false), ("theta", '\u{3b8}', false),
    ("thetasym", '\u{3d1}', false), ("thinsp", '\u{2009}', false), ("thorn", '\u{fe}', true),
    ("tilde", '\u{2dc}', false), ("times", '\u{d7}', true), ("trade", '\u{2122}', false), ("uArr", '\u{21d1}', false),
    ("uacute", '\u{fa}', true), ("uarr", '\u{2191}', false), ("ucirc", '\u{fb}', true), ("ugrave", '\u{f9}', true),
    ("uml", '\u{a8}', true), ("upsih", '\u{3d2}', false), ("upsilon", '\u{3c5}', false), ("uuml", '\u{fc}', true),
    ("verbar", '\u{7c}', false), ("vert", '\u{7c}', false), ("weierp", '\u{2118}', false), ("xi", '\u{3be}', false),
    ("yacute", '\u{fd}', true), ("yen", '\u{a5}', true), ("yuml", '\u{ff}', true), ("zeta", '\u{3b6}', false),
    ("zwj", '\u{200d}', false), ("zwnj", '\u{200c}', false),
];

/// The longest name.
const LONGEST: usize = 14;
/// Those whose numbers stand for characters of Windows-1252, as browsers read them: 0x80 to 0x9F.
#[rustfmt::skip]
const WINDOWS: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
    0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

/// Returns a text with its references replaced by what they stand for.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut at = first;
    while at < text.len() {
        match reference(&text[at..]) {
            Some((character, length)) => {
                out.push(character);
                at += length;
            }
            None => {
                out.push('&');
                at += 1;
            }
        }
        let next = memchr(b'&', &text.as_bytes()[at..]).map_or(text.len(), |next| at + next);
        out.push_str(&text[at..next]);
        at = next;
    }
    Cow::Owned(out)
}

/// Returns a text with its complete references, those that end with a semicolon, replaced by what they stand for. One
/// that was written twice, as in `&amp;nbsp;`, counts too.
pub(crate) fn decoded_strictly(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (place, character) in complete_references(text) {
        out.push_str(&text[copied..place.start]);
        out.push(character);
        copied = place.end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Yields the places of complete references, and what they stand for.
pub(crate) fn complete_references(text: &str) -> impl Iterator<Item = (Range<usize>, char)> {
    let complete =
        |from: usize| reference(&text[from..]).filter(|&(_, length)| text.as_bytes()[from + length - 1] == b';');
    let mut done = 0;
    memchr::memchr_iter(b'&', text.as_bytes()).filter_map(move |at| {
        let (mut character, length) = complete(at).filter(|_| at >= done)?;
        done = at + length;
        // What follows an ampersand that stands for itself may be the rest of a reference.
        while character == '&'
            && let Some((rest, length)) = complete(done - 1)
        {
            (character, done) = (rest, done - 1 + length);
        }
        Some((at..done, character))
    })
}

/// Returns the character that a reference at the very beginning stands for, and the length of the reference.
pub(crate) fn reference(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return numeric(bytes);
    }
    let name = bytes[1..].iter().take(LONGEST + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let find = |length: usize| {
        let wanted = &text[1..=length];
        NAMES.binary_search_by(|(name, _, _)| name.cmp(&wanted)).ok().map(|at| NAMES[at])
    };
    if name > 0
        && bytes.get(1 + name) == Some(&b';')
        && let Some((_, character, _)) = find(name)
    {
        return Some((character, name + 2));
    }
    // Old names may lack their semicolon, and then letters may follow.
    (2..=name.min(6))
        .rev()
        .find_map(|length| find(length).filter(|(_, _, bare)| *bare).map(|(_, character, _)| (character, length + 1)))
}

fn numeric(bytes: &[u8]) -> Option<(char, usize)> {
    let hexadecimal = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (start, base) = if hexadecimal { (3, 16) } else { (2, 10) };
    let mut end = start;
    let mut value = 0_u32;
    while let Some(digit) = bytes.get(end).and_then(|&byte| char::from(byte).to_digit(base)) {
        value = value.saturating_mul(base).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    end += usize::from(bytes.get(end) == Some(&b';'));
    let value = match value {
        0x80..=0x9F => u32::from(WINDOWS[value as usize - 0x80]),
        other => other,
    };
    Some((char::from_u32(value).filter(|&character| character != '\0').unwrap_or('\u{FFFD}'), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_no_longer_than_the_longest() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(NAMES.iter().map(|(name, _, _)| name.len()).max(), Some(LONGEST));
        assert!(NAMES.iter().all(|(name, _, bare)| !bare || name.len() <= 6));
    }

    #[test]
    fn references_are_decoded_as_browsers_do() {
        assert_eq!(decoded("a &amp; b &#150; &notit; AT&T &nosuch; &#;"), "a & b – ¬it; AT&T &nosuch; &#;");
        assert_eq!(decoded("&copy 2026 &eacutet&eacute; &#39;&#x27;&apos;"), "© 2026 été '''");
        assert_eq!(decoded("&#0;&#xD800;&#99999999999;"), "\u{FFFD}\u{FFFD}\u{FFFD}");
    }
}

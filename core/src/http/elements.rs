//! Properties of the elements of HTML, by name.

/// Has no content and no end tag.
pub(super) const VOID: u16 = 1;
/// Its content is not markup, and not seen.
pub(super) const RAW: u16 = 1 << 1;
/// A line of text of its own.
pub(super) const LINE: u16 = 1 << 2;
/// Apart from its neighbours in a line.
pub(super) const GAP: u16 = 1 << 3;
/// No end tag of an inline element reaches beyond it.
pub(super) const SPECIAL: u16 = 1 << 4;
/// Ends an open paragraph.
pub(super) const ENDS_P: u16 = 1 << 5;
/// No end tag but that of a table's parts reaches beyond it.
pub(super) const SCOPE: u16 = 1 << 6;
/// May stand in the head.
pub(super) const IN_HEAD: u16 = 1 << 7;
pub(super) const PRE: u16 = 1 << 8;
pub(super) const SVG: u16 = 1 << 9;
pub(super) const HEAD: u16 = 1 << 10;
pub(super) const TEMPLATE: u16 = 1 << 11;
/// Parts of a table, and the table.
pub(super) const TABLE: u16 = 1 << 12;
/// Its content is text in which no tag begins.
pub(super) const ONLY_TEXT: u16 = 1 << 13;
/// There is but one.
pub(super) const ONCE: u16 = 1 << 14;

/// An item of a list ends another though this lies between.
pub(super) const WRAPPER: u16 = 1 << 15;

/// Returns the properties of a name in lower case.
pub(super) fn flags(name: &[u8]) -> u16 {
    match name {
        b"div" | b"p" | b"address" => LINE | SPECIAL | ENDS_P | WRAPPER,
        b"article" | b"aside" | b"blockquote" | b"center" | b"details" | b"dl" | b"fieldset" | b"figcaption"
        | b"figure" | b"footer" | b"form" | b"header" | b"main" | b"menu" | b"nav" | b"ol" | b"section"
        | b"summary" | b"ul" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"hgroup" | b"dir" | b"dialog"
        | b"search" => LINE | SPECIAL | ENDS_P,
        b"pre" | b"listing" => LINE | SPECIAL | ENDS_P | PRE,
        b"li" | b"dt" | b"dd" => LINE | SPECIAL,
        b"option" | b"optgroup" | b"legend" => LINE,
        b"br" => VOID | LINE | SPECIAL,
        b"hr" => VOID | LINE | SPECIAL | ENDS_P,
        b"table" => LINE | SPECIAL | ENDS_P | SCOPE | TABLE,
        b"tbody" | b"thead" | b"tfoot" | b"tr" => LINE | SPECIAL | TABLE,
        b"caption" => LINE | SPECIAL | SCOPE | TABLE,
        b"td" | b"th" => GAP | SPECIAL | SCOPE | TABLE,
        b"colgroup" => SPECIAL,
        b"col" => VOID | SPECIAL,
        b"html" => LINE | SPECIAL | SCOPE | ONCE,
        b"body" => LINE | SPECIAL | ONCE,
        b"head" => SPECIAL | HEAD,
        b"title" => ONLY_TEXT | IN_HEAD | SPECIAL,
        b"textarea" => ONLY_TEXT | LINE | SPECIAL,
        b"xmp" => ONLY_TEXT | LINE | SPECIAL | ENDS_P,
        b"script" | b"style" => RAW | IN_HEAD | SPECIAL,
        b"noembed" | b"noframes" => RAW | SPECIAL,
        b"iframe" => RAW | GAP | SPECIAL,
        b"noscript" => IN_HEAD | SPECIAL,
        b"template" => TEMPLATE | IN_HEAD | SPECIAL | SCOPE,
        b"meta" | b"link" | b"base" | b"basefont" | b"bgsound" => VOID | IN_HEAD | SPECIAL,
        b"img" | b"input" | b"embed" => VOID | GAP | SPECIAL,
        b"area" | b"param" | b"source" | b"track" | b"frame" | b"keygen" => VOID | SPECIAL,
        b"wbr" => VOID | SPECIAL,
        b"button" => GAP | SPECIAL,
        b"object" | b"marquee" | b"applet" => SPECIAL | SCOPE,
        b"svg" | b"math" => SVG | GAP,
        // These are in the middle of words too.
        b"b" | b"i" | b"em" | b"strong" | b"u" | b"s" | b"sub" | b"sup" | b"font" | b"small" | b"big" | b"mark"
        | b"code" | b"kbd" | b"samp" | b"var" | b"tt" | b"abbr" | b"acronym" | b"cite" | b"q" | b"dfn" | b"del"
        | b"ins" | b"bdi" | b"bdo" | b"ruby" | b"rb" | b"nobr" | b"strike" => 0,
        // All others are set apart by a style more often than not.
        _ => GAP,
    }
}

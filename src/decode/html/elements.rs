//! Elements and attributes of HTML that matter here.

/// Attributes whose value is one URL.
pub(super) const URL_ATTRIBUTES: [&str; 22] = [
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "dynsrc",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "lowsrc",
    "manifest",
    "ping",
    "poster",
    "profile",
    "src",
    "xlink:href",
    "data-src",
    "data-href",
    "original-src",
];

/// Returns the name of an attribute whose value is one URL. `None` for other attributes.
pub(super) fn url_attribute(name: &[u8]) -> Option<&'static str> {
    URL_ATTRIBUTES
        .iter()
        .find(|known| known.as_bytes() == name)
        .copied()
}

/// Returns `true` for elements before and after which the visible text has a line break, so that the text of neighbours is not
/// joined.
pub(super) fn breaks_lines(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"button"
            | b"caption"
            | b"center"
            | b"dd"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figure"
            | b"footer"
            | b"form"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"header"
            | b"hr"
            | b"html"
            | b"img"
            | b"li"
            | b"main"
            | b"nav"
            | b"ol"
            | b"option"
            | b"p"
            | b"pre"
            | b"section"
            | b"select"
            | b"table"
            | b"td"
            | b"th"
            | b"title"
            | b"tr"
            | b"ul"
    )
}

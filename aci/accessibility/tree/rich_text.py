"""Rich text of Qt and Java, which labels and tooltips of their applications pass on as HTML."""

from __future__ import annotations

import re
from functools import lru_cache
from html.parser import HTMLParser

_INLINE = frozenset(
    {"a", "b", "big", "cite", "code", "dfn", "em", "font", "i", "img", "kbd", "nobr", "s", "samp", "small", "span",
     "strong", "sub", "sup", "tt", "u", "var"}
)  # fmt: skip
_BLOCKS = frozenset(
    {"address", "blockquote", "body", "br", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
     "html", "li", "ol", "p", "pre", "qt", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
)  # fmt: skip
_UNSEEN = frozenset({"head", "script", "style", "title"})
# Qt takes a text for rich text if its first line holds a tag that it knows (Qt::mightBeRichText)
_FIRST_TAG = re.compile(r"[^<\n]*<(?:(\?xml|!doctype)\b|/?([a-z][a-z0-9]*)\b[^<>]*>)", re.IGNORECASE)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        if tag in _BLOCKS:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.words.append(data)


@lru_cache(maxsize=1000)
def without_markup(text: str) -> str:
    """Return what is shown of a text; plain text stays as it is."""
    found = _FIRST_TAG.match(text)
    if found is None or not (found[1] or found[2].lower() in _INLINE | _BLOCKS | _UNSEEN):
        return text
    parser = _Words()
    parser.feed(text)
    parser.close()
    return "".join(parser.words)

"""Lists of values: "Name: Ada; Email: ...", "5 in B2, 7 in B3", tables."""

from __future__ import annotations

import re
from dataclasses import replace

from agent_s.offline.grammar.base import CELL, THE, Q
from agent_s.offline.quoting import Guarded
from agent_s.offline.targets import TargetQuery, parse_target, split_list

Cells = tuple[tuple[str, str], ...]

_ADDRESS = re.compile(CELL)
_VALUE_IN_CELL = re.compile(
    rf"(?:(?:type|enter|write|put|input)\s+)?(?P<value>.+?)\s+(?:in|into|to|at)\s+(?:the\s+)?(?:cell\s+)?(?P<cell>{CELL})",
    re.IGNORECASE | re.DOTALL,
)
_CELL_IS = re.compile(
    rf"(?:cell\s+)?(?P<cell>{CELL})\s*(?:=(?!=)|:|\s(?:with|to|as|is)\s)\s*(?P<value>.+)", re.IGNORECASE | re.DOTALL
)
_PAIR = re.compile(
    r"(?P<label>[^:=\n]{1,80}?)\s*(?:=|:|->|→|\s(?:is|to|as|with)\s)\s*(?P<value>.+)", re.DOTALL | re.IGNORECASE
)
_WORD_VALUE = re.compile(r"(?P<label>[a-z][a-z-]{1,30})\s+(?P<value>[A-Z0-9\ue000].*)", re.DOTALL)
_LABEL_QUOTE = re.compile(rf"{THE}(?P<label>[^\ue000]{{1,80}}?)\s*(?P<value>{Q})", re.IGNORECASE | re.DOTALL)
_ONE_LABEL = re.compile(r"(?:^|[,;]\s*(?:and\s+)?|\s+and\s+)(?=[A-Za-z\ue000][^,;:=\n]{0,60}\s*[:=])")


def parse_cell_list(body: Guarded) -> Cells | None:
    """Read "Item in A1, Price in B1" or "A1: Item, B1: Price"; None where a part is neither."""
    parts = _cell_parts(body)
    cells: list[tuple[str, str]] = []
    for part in parts:
        match = _CELL_IS.fullmatch(part.text.strip()) or _VALUE_IN_CELL.fullmatch(part.text.strip())
        if match is None:
            return None
        cells.append((_address(match["cell"]), _text(part.part(match["value"]))))
    return tuple(cells) or None


def spread_over_cells(values: Guarded, where: Guarded) -> Cells | None:
    """Read the values "1, 2 and 3" over "cells A1, A2 and A3" or "A1:A3" or "A1 to A3"; None where that is not meant."""
    text = re.sub(r"^(?:the\s+)?cells?\s+", "", where.text.strip(), flags=re.IGNORECASE)
    addresses = _addresses(where.part(text))
    if addresses is None:
        return None
    if len(addresses) == 1:
        return ((addresses[0], _text(values)),)
    texts = tuple(_text(part) for part in split_list(values))
    return tuple(zip(addresses, texts, strict=True)) if len(texts) == len(addresses) else None


def cells_of_table(body: Guarded, start: str) -> Cells | None:
    """Read a table, one row a line (or separated by ";" or "/"), as cells from `start` to the right and down."""
    text = body.text.strip("\n ")
    rows = [row for row in (text.split("\n") if "\n" in text else re.split(r"\s*;\s*|\s+/\s+", text)) if row.strip()]
    rows = [row for row in rows if not re.fullmatch(r"[\s|:+=-]+", row)]
    table = [_columns(row) for row in rows]
    first = _split_address(start)
    if not table or first is None:
        return None
    column, line = first
    return tuple(
        (f"{_letters(column + x)}{line + y}", _text(body.part(value)))
        for y, row in enumerate(table)
        for x, value in enumerate(row)
        if value
    )


def parse_pairs(body: Guarded) -> tuple[tuple[TargetQuery, str], ...] | None:
    """Read "Name: Ada; Email: a@b.c" or 'name "Ada" and email "a@b.c"' as fields with values; None where it is neither."""
    text = re.sub(r"^(?:with\s+)?(?:the\s+following\s*:?\s*)", "", body.text.strip(), flags=re.IGNORECASE)
    chunks = [chunk for line in text.split("\n") for chunk in re.split(r"\s*;\s*", line) if chunk.strip(" ,.")]
    if len(chunks) == 1:
        chunks = [chunk for chunk in _ONE_LABEL.split(chunks[0]) if chunk.strip()]
    pairs = [_pair(body.part(chunk.strip(" ,."))) for chunk in chunks]
    for read in (_quoted_pair, _word_pair):
        if any(pair is None for pair in pairs):
            pairs = [read(part) for part in split_list(body.part(text))]
    known = tuple(pair for pair in pairs if pair is not None)
    return known if known and len(known) == len(pairs) else None


def _pair(chunk: Guarded) -> tuple[TargetQuery, str] | None:
    match = _PAIR.fullmatch(re.sub(r"^(?:set|enter|type|[-*•])\s+", "", chunk.text, flags=re.IGNORECASE))
    if match is None:
        return _quoted_pair(chunk)
    return _field(chunk.part(match["label"])), _text(chunk.part(match["value"]))


def _quoted_pair(chunk: Guarded) -> tuple[TargetQuery, str] | None:
    match = _LABEL_QUOTE.fullmatch(chunk.text.strip())
    if match is None:
        return None
    label = re.sub(r"\s+(?:as|to|with|is|of)$", "", match["label"], flags=re.IGNORECASE)
    return _field(chunk.part(label)), _text(chunk.part(match["value"]))


def _word_pair(chunk: Guarded) -> tuple[TargetQuery, str] | None:
    """Read "name Ada": a label in lower case and a value that begins with a capital or digit."""
    match = _WORD_VALUE.fullmatch(chunk.text.strip())
    return (_field(chunk.part(match["label"])), _text(chunk.part(match["value"]))) if match else None


def _field(label: Guarded) -> TargetQuery:
    query = parse_target(label)
    return query if query.kinds else replace(query, kinds=())


def _text(value: Guarded) -> str:
    stripped = value.part(value.text.strip().rstrip(","))
    literal = stripped.only_literal
    if literal is not None:
        return literal
    text = re.sub(rf"^{THE}(?:text|number|value|formula|word|words|label)\s+", "", stripped.text, flags=re.IGNORECASE)
    return stripped.part(text).plain.strip()


def _cell_parts(body: Guarded) -> list[Guarded]:
    """Split where a new cell begins, so that a formula with commas stays whole."""
    text = body.text.strip()
    leads = rf"(?:cell\s+)?{CELL}\s*(?:=(?!=)|:|\s(?:with|to|as|is)\s)"
    if re.match(leads, text, re.IGNORECASE):
        pieces = re.split(rf"\s*[,;\n]\s*(?:and\s+)?(?={leads})|\s+and\s+(?={leads})", text, flags=re.IGNORECASE)
    else:
        pieces = re.split(
            r"(?<=[A-Za-z\d])\s*[,;\n]\s*(?:and\s+)?(?=[^,;]+\s(?:in|into|to|at)\s)|\s+and\s+(?=[^,;]+\s(?:in|into|to|at)\s)",
            text,
            flags=re.IGNORECASE,
        )
    return [body.part(piece.strip()) for piece in pieces if piece.strip()]


def _addresses(where: Guarded) -> list[str] | None:
    text = where.text.strip()
    if match := re.fullmatch(rf"(?P<a>{CELL})\s*(?::|to|through|-|–)\s*(?P<b>{CELL})", text, re.IGNORECASE):
        return _range(match["a"], match["b"])
    parts = [part.text for part in split_list(where)]
    return [_address(part) for part in parts] if parts and all(_ADDRESS.fullmatch(part) for part in parts) else None


def _range(first: str, last: str) -> list[str] | None:
    one, other = _split_address(first), _split_address(last)
    if one is None or other is None or (other[0] - one[0] + 1) * (other[1] - one[1] + 1) > 500:
        return None
    return [
        f"{_letters(column)}{line}" for line in range(one[1], other[1] + 1) for column in range(one[0], other[0] + 1)
    ]


def _address(cell: str) -> str:
    return cell.replace("$", "").upper()


def _split_address(cell: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"([A-Z]{1,3})(\d+)", _address(cell))
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return column, int(match[2])


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _columns(row: str) -> list[str]:
    row = row.strip().strip("|")
    if "|" in row:
        return [cell.strip() for cell in row.split("|")]
    if "\t" in row:
        return [cell.strip() for cell in row.split("\t")]
    return [cell.strip() for cell in re.split(r"\s*,\s*", row)]

"""Reads the aliases of skills from the descriptions that earlier versions packed them into.

Up to schema 0003 and export version 2, a description was one sentence with the aliases in it::

    Show line numbers, also called “line numbers on” or “enable line numbers”, by View > Line Numbers in mousepad.
"""

from __future__ import annotations

import re

_ALSO = ", also called "
_SHOWS = ", which shows "
_BY = ", by "
_LIST = re.compile("“[^”]*”(?:(?:, | or )“[^”]*”)*")
_NAME = re.compile("“([^”]*)”")


def unpack(name: str, description: str, app: str) -> tuple[list[str], str]:
    """Return the aliases of a skill and its description without them."""
    what, also, rest = description.partition(_ALSO)
    listed = _LIST.match(rest) if also else None
    if listed is not None:
        description = what + rest[listed.end() :]
    elif not (what.endswith(f" in {app}.") and _BY in what):
        return [], description  # Not a packed sentence, but the text of a subtask.
    else:
        what = what.partition(_SHOWS)[0] if _SHOWS in what else what.rpartition(_BY)[0]
    found = [*_NAME.findall(listed[0] if listed else ""), what]
    aliases = {alias.casefold(): alias for alias in found if alias and alias.casefold() != name.casefold()}
    return list(aliases.values()), description

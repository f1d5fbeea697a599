"""Clauses about files: save under a name, in a folder, in a format."""

from __future__ import annotations

import re

from agent_s.offline.grammar.base import THE, Found, Rule, rule
from agent_s.offline.intents import Intent, SaveFile
from agent_s.offline.quoting import Guarded

_URL = re.compile(
    r"(?:https?|file|ftp|chrome|about)\s*:\S+|www\.\S+|localhost(?::\d+)?(?:/\S*)?|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?:/\S*)?|(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|dev|info|de|fr|uk|eu|ch|test|local|example|html?)(?::\d+)?(?:[/?#]\S*)?",
    re.IGNORECASE,
)


_FILE = re.compile(
    r"(?:~|\.{0,2}/)?[^<>|*?\n]*\.(?:txt|md|rst|csv|tsv|ods|odt|odp|odg|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif|svg|html?|py|sh|c|h|json|ya?ml|xml|log|rtf|ini|conf|tex|mp3|mp4|ogg|wav|xcf|zip|tar|gz)|(?:~|/)\S*",
    re.IGNORECASE,
)


_OVERWRITE = re.compile(
    r"\s*,?\s*\b(?:(?:and )?(?:overwrit(?:e|ing)|replac(?:e|ing)) (?:it|(?:the |any )?(?:existing|old|current|previous|original)(?: (?:file|one|version|document|copy))?|the file|any file(?: of that name)?|what is there|whatever is there)"
    r"(?:(?: file)?,? if (?:it|there|one|the file|that|asked|prompted|necessary|needed)[^,]*)?|(?:and )?overwrite if (?:it|one|the file)[^,]*|even if it (?:already )?exists)",
    re.IGNORECASE,
)


_FORMAT = re.compile(
    r"\s*,?\s*\b(?:(?:and\s+)?(?:keeping|keep)(?:\s+it)?(?:\s+in|\s+as)?|in|as|using|with)\s+(?:an?\s+|the\s+|its\s+)?(?P<format>(?:microsoft\s+|ms\s+|plain\s+|open\s?document\s+|comma[- ]separated\s+)?\.?(?:excel|word|powerpoint|xlsx?|docx?|pptx?|csv|text csv|odt|ods|odp|text|txt|rtf|html|odf|markdown|current|original|existing)(?:\s+2007(?:[-–]365)?)?)\s*(?:format|file|document|workbook|spreadsheet|file format|file type)?(?=$|\s+(?:named|called|in|to|as|with|under)\b|,)",
    re.IGNORECASE,
)


def is_url(text: str) -> bool:
    """Tell whether a text is the address of a page."""
    return bool(_URL.fullmatch(text.strip()))


def is_file(text: str) -> bool:
    """Tell whether a text is a file name with a known extension, or a path."""
    return bool(_FILE.fullmatch(text.strip()))


_SAVED = (
    rf"^(?:{THE}(?:current |new |open |whole |edited |modified |resulting |active )?(?:file|document|text|changes|note|spreadsheet|workbook|"
    r"sheet|work|presentation|letter|table|draft|page|result|drawing|image|picture|buffer|contents?|progress|one)|it|this|that|them|everything)(?=$|\s|,)"
)
"""What is saved, which says nothing of where."""


def _save(found: Found) -> Intent | None:
    text, overwrite = found["rest"], False
    if match := _OVERWRITE.search(text):
        text, overwrite = text[: match.start()] + text[match.end() :], True
    format_name = ""
    if match := _FORMAT.search(text):
        text, format_name = text[: match.start()] + text[match.end() :], match["format"]
    text = re.sub(_SAVED, "", text.strip(), flags=re.IGNORECASE).strip(" ,")
    part = found.words.part(text)
    if not text:
        return SaveFile(overwrite=overwrite, format=format_name)
    named_file = _file_name(part)
    return None if named_file is None else SaveFile(*named_file, overwrite, format_name, save_as=True)


_FOLDER_FIRST = re.compile(
    r"(?:(?:in|to|into|under|on|inside)\s+(?P<folder>.+?))\s*,?\s+(?:as|under the name(?: of)?|with the (?:file ?)?name(?: of)?|named|called|using the name)\s+(?P<name>.+)",
    re.IGNORECASE | re.DOTALL,
)


_NAME_FIRST = re.compile(
    r"(?:as|to|under|with|named|called|using|by|in|,)?\s*(?:(?:the|a|an)\s+)?(?:(?:new|following)\s+)?(?:file(?:\s?name)?(?:\s+of)?\s+|name(?:\s+of)?\s+|path\s+|document\s+)?(?:named\s+|called\s+|as\s+)?(?P<name>.+?)"
    r"(?:\s*,?\s+(?:in|to|into|under|on|inside|within|at)\s+(?P<folder>.+))?",
    re.IGNORECASE | re.DOTALL,
)


_NAMES_FILE = re.compile(
    r"(?:as|named|called|(?:under|with|using|by)\s+(?:the\s+|a\s+)?(?:new\s+)?(?:file\s?)?name)\b", re.IGNORECASE
)


_FOLDER_ONLY = re.compile(r"(?:in|to|into|under|on|inside)\s+(?P<folder>.+)", re.IGNORECASE | re.DOTALL)


_KNOWN_FOLDERS = re.compile(
    r"(?:the\s+|my\s+|your\s+)?(?:documents?|downloads?|desktop|pictures|music|videos|home|templates|public|tmp|temporary)(?:\s+(?:folder|directory))?",
    re.IGNORECASE,
)


def _file_name(part: Guarded) -> tuple[str, str] | None:
    """Read "as draft.txt in the Documents folder" as name and folder."""
    text = part.text
    only = None if _NAMES_FILE.match(text) else _FOLDER_ONLY.fullmatch(text)
    if match := _FOLDER_FIRST.fullmatch(text):
        return part.part(match["name"]).plain, folder_path(part.part(match["folder"]))
    if only and (
        _KNOWN_FOLDERS.fullmatch(only["folder"]) or re.search(r"\b(?:folder|directory)$", only["folder"], re.IGNORECASE)
    ):
        return "", folder_path(part.part(only["folder"]))
    match = _NAME_FIRST.fullmatch(text)
    if match is None or not re.match(r"(?:as|to|under|with|named|called|using|in|by|,)\b", text, re.IGNORECASE):
        return None
    name = part.part(match["name"]).plain.strip(" ,")
    if (
        re.fullmatch(r"(?:an?\s+)?(?:pdf|csv|html|rtf|xml|png|jpe?g|image|picture|template|copy)", name, re.IGNORECASE)
        and not part.quotes
    ):
        return None
    if re.match(r"(?:to|in)\b", text, re.IGNORECASE) and not (is_file(name) or part.quotes):
        return None
    return name, folder_path(part.part(match["folder"])) if match["folder"] else ""


def folder_path(words: Guarded) -> str:
    """Turn "the Documents folder" or "~/x" into a path as a file dialog takes it."""
    text = words.plain.strip(" ,").rstrip("/")
    text = re.sub(r"^(?:the|my|your|a)\s+", "", text, flags=re.IGNORECASE)
    text = re.sub(r"^(?:folder|directory)\s+(?:named\s+|called\s+)?", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s+(?:folder|directory)$", "", text, flags=re.IGNORECASE)
    if nested := re.fullmatch(
        r"(.+?)\s+(?:folder |directory )?(?:in|inside|of|under|within)\s+(.+)", text, re.IGNORECASE
    ):
        return f"{folder_path(words.part(nested[2]))}/{nested[1].strip()}"
    if not text:
        return "/"
    if text.startswith(("/", "~", ".")):
        return text
    lowered = text.casefold()
    if re.fullmatch(r"home|home (?:folder|directory)|user(?:'s)? home", lowered):
        return "~"
    known = {
        "document": "Documents",
        "documents": "Documents",
        "download": "Downloads",
        "downloads": "Downloads",
        "desktop": "Desktop",
        "pictures": "Pictures",
        "music": "Music",
        "videos": "Videos",
    }
    if lowered in ("tmp", "temporary", "temp"):
        return "/tmp"
    return f"~/{known.get(lowered, text)}"


SAVING: tuple[Rule, ...] = (rule(r"(?:save|store)(?P<rest>(?:$| ).*)", _save),)

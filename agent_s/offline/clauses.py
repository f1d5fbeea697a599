"""From an instruction to clauses: one for each thing that is to be done, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_s.offline.lexicon import NOUN_VERBS, after_place, first_verb, is_filler, strip_fillers
from agent_s.offline.quoting import CLOSE, OPEN, PLACEHOLDER, Guarded, guard

_BULLET = re.compile(
    r"\s*(?:(?:step\s+)?\(?\d{1,3}[.):](?!\d)|[-*•‣–]\s|\(?[a-hA-H][.)]\s|step\s+\d+\s+-)\s*", re.IGNORECASE
)
_INLINE_NUMBER = re.compile(r"(?:(?<=\s)|^)\(?\d{1,2}[.)]\s+(?=[A-Za-z])")
_SENTENCE_END = re.compile(
    rf"(?<![\s.])([.!?]+)(?=\s)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bvs\.)\s+(?=[A-Z0-9(\"'{OPEN}])"
)
_CONNECTOR = re.compile(
    r"\s*;\s*(?:and\s+)?(?:then\s+)?"
    r"|\s*,?\s*\b(?:and\s+)?(?:then|after\s+that|afterwards|next,|finally|followed\s+by|before|after\s+which)\b\s*,?\s*"
    r"|\s*,\s*(?:and\s+|but\s+|or\s+)?(?:also\s+)?"
    r"|\s+(?:and|&)\s+(?:also\s+)?"
    r"|\s+[–—]\s+",
    re.IGNORECASE,
)
_PARALLEL = re.compile(rf"(?:the\s+)?{PLACEHOLDER}\s+(from|in|into|for|as|to|under)\s+(?!cell)\S", re.IGNORECASE)
_SET_ALSO = re.compile(rf"(?:the\s+|{PLACEHOLDER}|[A-Z])[^,;]{{0,60}}?\s+to\s+\S", re.IGNORECASE)
_PLACE = re.compile(
    r"(?:in|on|at|from|under|inside|within|into|for|with|using|as|to|starting|through|via)\b", re.IGNORECASE
)
_CONDITION_START = re.compile(r"(?:if|once|when|as soon as|after|before|until|wait)\b", re.IGNORECASE)
_KEEPS_LINES = re.compile(
    r"(?:follow|text|lines?|table|form|data|values?|fields?|cells?|details|information|rows?)[^:]{0,60}:\s*$",
    re.IGNORECASE,
)
_TEXT_HEADER = re.compile(
    r"^(?!.*\b(?:table|form|fields?|cells?|values?|data|details)\b).*\b(?:type|write|enter|input|insert|paste|append|add)\b[^:]{0,80}\b(?:text|lines?|paragraphs?|letter|poem|message|note|following|content)s?\b[^:]{0,40}:\s*$",
    re.IGNORECASE | re.DOTALL,
)
_HEADING_LINE = re.compile(
    r"(?:[\w' ()-]{1,80}:|#+ .*|(?:steps|instructions|task|please do the following)\W*)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing to do, in the words of the instruction.

    Attributes:
        words: The words, with placeholders for what was quoted.
        connector: What stood before it: "", "then", "and", ",", ";" or "." at the start of a sentence.
    """

    words: Guarded
    connector: str = "."

    @property
    def text(self) -> str:
        """The words, with placeholders."""
        return self.words.text


def split_instruction(instruction: str) -> list[Clause]:
    """Split an instruction into its clauses; quoted text is never split."""
    guarded = guard(_unify(instruction))
    clauses: list[Clause] = []
    for block in _blocks(guarded.text):
        for sentence in _sentences(block):
            clauses.extend(
                Clause(guarded.part(words), connector) for words, connector in _split_sentence(sentence) if words
            )
    return clauses


def begins_clause(text: str) -> bool:
    """Tell whether words could begin an instruction: with a verb, or with "in X, <verb>"."""
    stripped = strip_fillers(text)
    if first_verb(stripped):
        return True
    if after_place(stripped) or re.match(r"(?:don't|do\s+not|never)\s+[a-z]", stripped, re.IGNORECASE):
        return True
    return bool(re.match(r"(?:if|once|when|as soon as)\b[^,]*,", stripped, re.IGNORECASE))


def _unify(text: str) -> str:
    """Use one kind of line end, space and apostrophe; quotes stay as they are."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ").replace("\u200b", "")
    text = re.sub(r"(?<=\w)’(?=\w)", "'", text)
    # "... of the text hit submit": a comma was forgotten
    return re.sub(r"(?<=\w)(?<!\band)(?<!\bthen)(?<!\bto)(?<!\bor) (?=(?:hit|press|click) submit\b)", ", then ", text)


def _blocks(text: str) -> list[str]:
    """Join the lines that belong together: a list of values after "the following:", a text to be typed."""
    blocks: list[str] = []
    keep = ""
    for line in text.split("\n"):
        bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        if keep == "text" and line.strip():
            blocks[-1] += "\n" + line.strip()
            continue
        if keep and line.strip() and not _is_instruction(bare):
            blocks[-1] += "\n" + bare.strip()
            continue
        if blocks and ":" in blocks[-1] and re.match(r"\s*\||.*\t", line):
            blocks[-1] += "\n" + line.strip(" ")
            continue
        if not line.strip():
            keep = keep if blocks and blocks[-1].rstrip().endswith(":") else ""
            continue
        blocks.append(bare.strip())
        keep = _keeps(blocks[-1])
    return [block for block in blocks if not (_HEADING_LINE.fullmatch(block) and not begins_clause(block))]


def _keeps(block: str) -> str:
    if _TEXT_HEADER.search(block):
        return "text"
    return "values" if _KEEPS_LINES.search(block) or (block.endswith(":") and first_verb(strip_fillers(block))) else ""


def _is_instruction(line: str) -> bool:
    """Tell a new instruction from a line of values, where "Name: Ada" is a value and "Click OK" is not."""
    return begins_clause(line) and not re.match(r"[\w ]{1,40}[:=|\t]", line)


def _sentences(block: str) -> list[str]:
    if "\n" in block:
        head, _, lines = block.strip().partition("\n")
        *before, last = _sentences(f"{head} ") or [""]
        return [*before, f"{last.strip()}\n{lines}"]
    numbered = [part for part in _INLINE_NUMBER.split(block) if part.strip()]
    if len(numbered) > 1 and all(begins_clause(part) for part in numbered[1:]):
        return [sentence for part in numbered for sentence in _sentences(part)]
    sentences: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(block):
        if _ends_sentence(_ends_of(block[start : match.start()]), block[match.end() : match.end() + 400]):
            sentences.append(block[start : match.start()])
            start = match.end()
    sentences.append(block[start:])
    return [_without_goal(_without_stop(sentence)) for sentence in sentences if sentence.strip(" .!?")]


_TEXT_VERBS = (
    "type",
    "write",
    "enter",
    "input",
    "append",
    "add",
    "insert",
    "fill",
    "set",
    "put",
    "paste",
    "search",
    "replace",
    "create",
    "make",
    "complete",
    "",
)


def _without_goal(sentence: str) -> str:
    """Drop the goal of "Enable auto-save: choose Tools > Options, ...", which the steps behind the colon spell out."""
    head, colon, steps = sentence.partition(": ")
    if not colon or len(head) > 200 or not begins_clause(steps):
        return sentence
    verb = first_verb(strip_fillers(head))
    says_steps = re.search(r"\b(?:steps?|following|this|do|instructions?|task|follows)\b", head, re.IGNORECASE)
    return (
        steps
        if verb not in _TEXT_VERBS or (says_steps and not verb) or (not verb and head.count(" ") > 1)
        else sentence
    )


def _ends_sentence(before: str, after: str) -> bool:
    """A stop inside words to be typed does not end the instruction unless another one follows."""
    if begins_clause(after[:400]):
        return True
    return OPEN in before or first_verb(strip_fillers(before)) not in (
        "type",
        "write",
        "enter",
        "input",
        "append",
        "add",
    )


def _without_stop(sentence: str) -> str:
    if "\n" in sentence:
        return sentence.strip()
    return re.sub(r"(?<![.])[.!?]\s*$", "", sentence.strip())


def _split_sentence(sentence: str) -> list[tuple[str, str]]:
    """Split a sentence where one instruction ends and another begins."""
    if "\n" in sentence:
        head, _, lines = sentence.strip().partition("\n")
        *before, (last, connector) = _split_sentence(head)
        return [*before, (f"{last}\n{lines}", connector)]
    parts: list[tuple[str, str]] = []
    start, connector = 0, "."
    for match in _CONNECTOR.finditer(sentence):
        head, kind = sentence[start : match.start()], _kind(match[0])
        if not head.strip() or not _splits(_ends_of(head), kind, sentence[match.end() : match.end() + 400]):
            continue
        parts.append((head.strip(), connector))
        start, connector = match.end(), kind
    parts.append((sentence[start:].strip(" ,"), connector))
    return _in_order(parts)


def _in_order(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put "A before B" in the order in which it is done."""
    return [(words, "then" if connector == "before" else connector) for words, connector in parts]


def _kind(connector: str) -> str:
    words = connector.casefold()
    for kind in ("before", "then", "after", "next", "finally", "followed"):
        if kind in words:
            return "before" if kind == "before" else "then"
    if ";" in words:
        return ";"
    if "and" in words or "&" in words:
        return "and"
    return "," if "," in words else "then"


def _ends_of(head: str) -> str:
    """Return both ends of a long text, which is all that tells how it goes on; so reading stays linear."""
    return head if len(head) <= 600 else f"{head[:300]} {head[-300:]}"


def _splits(head: str, kind: str, rest: str) -> bool:
    """Decide whether a connector separates two instructions."""
    following = rest[:400]
    if not following.strip():
        return False
    if _is_open_condition(head) or _lacks_deed(head) or re.match(r"to\s+(?:find|look|see)\b", following):
        return False
    if kind in (",", "and") and _is_parallel(head, following):
        return True
    if kind == "then":
        return True
    if kind == "before":
        return bool(re.match(r"[a-z]+ing\b", following))
    if kind == ";":
        return ":" not in head and "=" not in head
    return _and_splits(head, kind, following)


def _is_parallel(head: str, following: str) -> bool:
    """Tell whether "'Paris' from the City list" repeats the form of "select 'France' from the Country list"."""
    verb = first_verb(strip_fillers(head))
    if verb in ("set", "change", "adjust") and _SET_ALSO.match(following) and re.search(r"\sto\s+\S", head):
        return not first_verb(following)
    if verb in ("select", "choose", "pick", "set", "enter", "type", "use") and re.search(
        r"\s(as|for)\s+(?:the|my|your)\s", head, re.IGNORECASE
    ):
        alike = re.match(r"\S[^,;]{0,60}?\s(?:as|for)\s+(?:the|my|your)\s", following, re.IGNORECASE)
        return bool(alike) and not first_verb(following)
    again = _PARALLEL.match(following)
    return again is not None and bool(re.search(rf"{PLACEHOLDER}\s+{again[1]}\s+\S", head, re.IGNORECASE))


def _and_splits(head: str, kind: str, following: str) -> bool:
    if not begins_clause(following):
        return False
    verb = first_verb(strip_fillers(following))
    if _is_gerund(following) and not _is_gerund(head):
        return False
    if (
        verb in NOUN_VERBS
        and kind == "and"
        and not re.match(r"\w+\s+(?:it|the|this|that|a|an|yes|no|with|'|\"|" + OPEN + ")", following, re.IGNORECASE)
    ):
        return False
    return not _is_part_of_name(head, following)


def _is_gerund(text: str) -> bool:
    """Tell whether words begin with "clicking" or the like, which after a comma says how and not what else."""
    return bool(re.match(r"[A-Za-z-]+ing\b", strip_adverbs(text)))


def strip_adverbs(text: str) -> str:
    """Take "then" and the like off the front."""
    return re.sub(r"^(?:then|and|now|also|next|finally)\s+", "", text.strip(), flags=re.IGNORECASE)


def _is_part_of_name(head: str, following: str) -> bool:
    """Tell "Find and Replace" or "Save, Close" from two instructions: both sides are capitalized in mid-sentence."""
    before = head.split()[-1:] or [""]
    first = following.split()[0]
    if len(head.split()) < 2 or not before[0][:1].isupper() or not first[:1].isupper():
        return False
    return not before[0].endswith(CLOSE) and not re.search(
        r"\b(?:Ctrl|Alt|Shift|F\d+|Enter|Return|Tab|Escape|Esc)\b", before[0]
    )


def _lacks_deed(head: str) -> bool:
    """Tell whether the head says only where or how ("in the File menu"), or is the "find" of "find and click"."""
    stripped = strip_fillers(head)
    if is_filler(head) or re.fullmatch(r"(?:hold|keep)(?:\s+down)?\s+(?:the\s+)?[\w+ ]{2,20}", stripped, re.IGNORECASE):
        return True
    if re.fullmatch(
        r"(?:go|try|look|search|scroll|come)|(?:.*\s)?(?:find|locate|look for|search for)", stripped, re.IGNORECASE
    ):
        return True
    return bool(_PLACE.match(stripped)) and not after_place(stripped)


def _is_open_condition(head: str) -> bool:
    """Tell whether the head is "when the dialog opens", which waits for what is to be done then."""
    stripped = strip_fillers(head)
    if not _CONDITION_START.match(stripped) or re.match(r"wait\b", stripped, re.IGNORECASE):
        return False
    tail = stripped.split(",", 1)
    return len(tail) < 2 or not begins_clause(tail[1])

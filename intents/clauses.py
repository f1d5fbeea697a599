"""Splitting of instructions into clauses, one per action."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from intents.lexicon import base_form, first_verb
from intents.tables import pattern, table, words
from intents.templates import Template
from intents.text import CLOSE, OPEN, PLACEHOLDER, Phrase, guard

_END = re.compile(r"[ .!?]*\Z")
_NEAR = 400  # characters after a connector that are examined, so that the time stays linear


@dataclass(frozen=True, slots=True)
class Clause:
    """One action, in the words of the instruction."""

    words: Phrase
    connector: str = "."  # the connector before them: "then", "and", ",", ";", or "." at the start of a sentence


def split(instruction: str) -> list[Clause]:
    """Split an instruction into its clauses; quoted text is never split."""
    text = instruction.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ").replace("\u200b", "")
    phrase = guard(re.sub(r"(?<=\w)’(?=\w)", "'", text))
    found = (clause for block in _blocks(phrase.marked) for one in _sentences(block) for clause in _split(one))
    return [Clause(phrase.part(marked), connector) for marked, connector in found if marked]


# Polite phrases


@lru_cache(maxsize=1)
def _polite() -> tuple[re.Pattern[str], re.Pattern[str]]:
    lists = table("words")
    before, behind = ("|".join(Template(each).source for each in lists[key]) for key in ("polite", "polite_endings"))
    order = "|".join(words("words", "order"))
    return (
        re.compile(rf"(?:{before}|{order})(?![\w'-])\s*(?P<mark>[,:])?\s*", re.IGNORECASE),
        re.compile(rf"(?<![\s,])[\s,]+(?:{behind})(?![^\s,])", re.IGNORECASE),
    )


def without_politeness(text: str) -> str:
    """Remove polite phrases and ordinals from both ends, and convert a leading "clicking" to "click"."""
    before, behind = _polite()
    text = text.strip(" \t\n,;")
    start, end = 0, len(text)
    while (match := before.match(text, start)) and not _END.match(text, after := match.end()):
        ordinal = match[0].casefold().split()[0].strip(",:") in words("words", "order")
        if ordinal and not (match["mark"] or first_verb(text, after) or before.match(text, after)):
            break
        start = after
    for match in reversed(list(behind.finditer(text, start))):
        if match.end() != end:
            break
        end = match.start()
    text = text[start:end].strip()
    first, _, rest = text.partition(" ")
    base = base_form(first)
    return f"{base} {rest}".strip() if base != first.casefold() else text


def is_polite_only(text: str) -> bool:
    """Return whether a text consists only of polite phrases or ordinals."""
    text = text.strip(" ,")
    end = 0
    while end < len(text) and (match := _polite()[0].match(text, end)):
        end = match.end()
    return 0 < end == len(text)


def begins_clause(text: str) -> bool:
    """Return whether words could begin an instruction: with a verb, or with "in X, <verb>"."""
    plain = without_politeness(text)
    conditional = pattern("negated_clause").match(plain) or pattern("waiting_clause").match(plain)
    return bool(first_verb(plain) or conditional or after_place(plain))


def after_place(text: str) -> str:
    """Return the words after "in the File menu," or "in B2" if they begin with a verb, else an empty text."""
    if not pattern("place").match(text):
        return ""
    found = list(re.finditer(r"\S+", text[:300]))
    for before, word in itertools.pairwise(found[1:]):
        parted, rest = before[0].endswith((",", ":")), text[word.start() :]
        rest = without_politeness(rest) if parted else rest
        if first_verb(rest) and (parted or word[0].islower()):
            return rest
    return ""


# Lines and sentences


def _blocks(text: str) -> list[str]:
    """Join the lines that belong together: a list of values after "the following:", a text to be typed."""
    blocks: list[str] = []
    keep = ""
    for line in text.split("\n"):
        bullet = pattern("bullet").match(line)
        bare = line[bullet.end() :] if bullet else line
        if not line.strip():
            keep = keep if blocks and blocks[-1].rstrip().endswith(":") else keep if keep == "text" else ""
            continue
        if keep == "text":
            blocks[-1] += "\n" + line.strip()
        elif keep and not (begins_clause(bare) and not re.match(r"[\w ]{1,40}[:=|\t]", bare)):
            blocks[-1] += "\n" + bare.strip()
        elif blocks and ":" in blocks[-1] and re.match(r"\s*\||.*\t", line):
            blocks[-1] += "\n" + line.strip(" ")
        else:
            blocks.append(bare.strip())
            keep = _what_follows(blocks[-1])
    return [block for block in blocks if begins_clause(block) or not pattern("heading").fullmatch(block)]


def _what_follows(block: str) -> str:
    if pattern("text_follows").search(block):
        return "text"
    names_values = pattern("values_follow").search(block) or (block.endswith(":") and _verb_of(block))
    return "values" if names_values else ""


def _verb_of(text: str) -> str:
    return first_verb(without_politeness(text))


def _sentences(block: str) -> list[str]:
    if "\n" in block:
        head, _, lines = block.strip().partition("\n")
        *before, last = _sentences(f"{head} ") or [""]
        return [*before, f"{last.strip()}\n{lines}"]
    numbered = [part for part in pattern("inline_number").split(block) if part.strip()]
    if len(numbered) > 1 and all(begins_clause(part) for part in numbered[1:]):
        return [sentence for part in numbered for sentence in _sentences(part)]
    sentences: list[str] = []
    start = 0
    for match in pattern("sentence_end").finditer(block):
        head, behind = _ends_of(block[start : match.start()]), block[match.end() : match.end() + _NEAR]
        # A stop inside words to be typed ends the instruction only where another one follows.
        if begins_clause(behind) or OPEN in head or _verb_of(head) not in words("verbs", "taking_texts"):
            sentences.append(block[start : match.start()])
            start = match.end()
    sentences.append(block[start:])
    bare = (re.sub(r"(?<![.])[.!?]\s*$", "", sentence.strip()) for sentence in sentences if sentence.strip(" .!?"))
    return [_without_goal(sentence) for sentence in bare]


def _without_goal(sentence: str) -> str:
    """Drop the goal of "Enable auto-save: choose Tools > Options, ...", which the steps behind the colon spell out."""
    head, colon, steps = sentence.partition(": ")
    if not colon or len(head) > 200 or not begins_clause(steps):
        return sentence
    if verb := _verb_of(head):
        return sentence if verb in words("verbs", "taking_values") else steps
    return steps if pattern("steps_follow").search(head) or head.count(" ") > 1 else sentence


# Clauses of one sentence


def _split(sentence: str) -> list[tuple[str, str]]:
    if "\n" in sentence:
        head, _, lines = sentence.strip().partition("\n")
        *before, (last, connector) = _split(head)
        return [*before, (f"{last}\n{lines}", connector)]
    parts: list[tuple[str, str]] = []
    start, connector = 0, "."
    for match in pattern("connector").finditer(sentence):
        head, kind = sentence[start : match.start()], _kind(match[0])
        if head.strip() and _splits(_ends_of(head), kind, sentence[match.end() : match.end() + _NEAR]):
            parts.append((head.strip(), connector))
            start, connector = match.end(), "then" if kind == "before" else kind
    return [*parts, (sentence[start:].strip(" ,"), connector)]


def _kind(connector: str) -> str:
    connector = connector.casefold()
    if "before" in connector:
        return "before"
    if any(word in connector for word in words("words", "later")):
        return "then"
    if ";" in connector:
        return ";"
    return "and" if "and" in connector or "&" in connector else "," if "," in connector else "then"


def _ends_of(text: str) -> str:
    return text if len(text) <= 600 else f"{text[:300]} {text[-300:]}"


def _splits(head: str, kind: str, following: str) -> bool:
    """Return whether a connector separates two instructions."""
    bare = without_politeness(head)
    if not following.strip() or _waits(bare) or _lacks_deed(head, bare):
        return False
    if pattern("purpose").match(following):
        return False
    if kind == "then" or (kind in (",", "and") and _is_parallel(bare, following)):
        return True
    if kind == "before":
        return re.match(r"[a-z]+ing\b", following) is not None
    if kind == ";":
        return ":" not in head and "=" not in head
    if not begins_clause(following) or (_is_gerund(following) and not _is_gerund(head)):
        return False
    noun = kind == "and" and _verb_of(following) in words("verbs", "nouns_as_commands")
    if noun and not pattern("noun_as_command").match(following):
        return False
    return not _is_part_of_name(head, following)


def _waits(bare: str) -> bool:
    """Return whether words are a condition such as "when the dialog opens", which precedes an action."""
    _, comma, tail = bare.partition(",")
    return bool(pattern("condition").match(bare)) and not (comma and begins_clause(tail))


def _lacks_deed(head: str, bare: str) -> bool:
    """Return whether words give only a place or manner ("in the File menu"), or are the "find" of "find and click"."""
    if is_polite_only(head) or pattern("incomplete").fullmatch(bare):
        return True
    return pattern("place_alone").match(bare) is not None and not after_place(bare)


def _is_parallel(bare: str, following: str) -> bool:
    """Return whether "'Paris' from the City list" repeats the form of "select 'France' from the Country list"."""
    verb = first_verb(bare)
    if verb in words("verbs", "setting") and pattern("set_also").match(following) and re.search(r"\sto\s+\S", bare):
        return not first_verb(following)
    if verb in words("verbs", "choosing") and pattern("chosen_as").search(bare):
        return pattern("chosen_as_too").match(following) is not None and not first_verb(following)
    again = pattern("parallel").match(following)
    return again is not None and re.search(rf"{PLACEHOLDER}\s+{again[1]}\s+\S", bare, re.IGNORECASE) is not None


def _is_gerund(text: str) -> bool:
    return pattern("gerund").match(text.strip()) is not None


def _is_part_of_name(head: str, following: str) -> bool:
    """Return whether "Find and Replace" or "Save, Close" is a name: both sides are capitalized in mid-sentence."""
    before, first = head.split()[-1:] or [""], following.split()[0]
    if len(head.split()) < 2 or not before[0][:1].isupper() or not first[:1].isupper():
        return False
    return not before[0].endswith(CLOSE) and not pattern("key").search(before[0])

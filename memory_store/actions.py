"""What a sentence asks to be done: the families of its verbs, and which side of a pair of opposites it takes.

An embedding hardly tells "zoom in" from "zoom out" or "rename a file" from "sort the files". Two sentences are told
apart here by two tables: families of verbs that ask for the same thing, some the opposite of others, and words that
exclude each other, such as left and right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memory_store.words import stem

Verbs = Literal["same", "other", "unclear", "unknown"]
"""In some family of the key's; in none; the query's says something and the key's nothing; the query's says nothing."""

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")

# A word may stand in several families; texts are told apart only where they share none.
_FAMILIES = """
create: annotate add insert create compose generate introduce append attach put place draw set install start open enter
 apply make new establish write build include schedule load store
remove: remove delete erase discard clear drop trash wipe eliminate strip purge clean uninstall rid clear-out
 throw cut reduce take-off forget detach reset
empty: empty clear wipe purge delete erase clear-out
open: open launch reopen load start view go show get-back restore play
close: close quit exit dismiss shut leave end
save: save export store remember render extract keep write produce print-to turn convert download
import: import load bring-in open insert
show: show display reveal unhide view see present turn-on switch-on filter make-visible list unfold expand
hide: hide conceal cover turn-off switch-off remove dismiss collapse make-invisible
enable: enable activate turn-on switch-on tick check allow start set use select choose
disable: disable deactivate turn-off switch-off untick uncheck stop block mute clear
start: start begin play run launch resume record present turn-on continue capture
stop: stop pause halt end interrupt abort cancel hold freeze finish
increase: increase raise enlarge boost grow speed-up zoom-in magnify maximize turn-up larger bigger higher faster louder
 wider brighter greater more
decrease: decrease reduce lower shrink slow-down zoom-out minimize turn-down smaller slower  quieter narrower dimmer
 fewer less dim soften fade-out
zoom in: zoom-in enlarge increase magnify
zoom out: zoom-out shrink reduce decrease
fade in: fade-in
fade out: fade-out
lock: lock protect guard encrypt set
unlock: unlock unprotect decrypt remove
group: group combine join merge put
ungroup: ungroup split separate
merge: merge join combine unite concatenate
split: split divide separate cut break unmerge
mute: mute silence turn-off stop switch-off disable
unmute: unmute turn-on enable switch-on
connect: connect pair link set-up join
disconnect: disconnect unpair unlink
install: install get add
uninstall: uninstall remove delete
undo: undo revert take-back
redo: redo repeat
pin: pin keep fix
unpin: unpin
bookmark: bookmark mark remember add star save
send: send share forward
receive: receive fetch get
upload: upload
download: download get save fetch
accept: accept approve confirm agree say-yes answer
reject: reject decline refuse cancel
allow: allow permit enable unblock
block: block forbid prevent deny stop disable
compress: compress zip pack archive zip-up
extract: extract unzip unpack decompress
copy: copy duplicate clone reproduce make-copy put
paste: paste insert
cut: cut trim crop shorten remove
move: move drag shift relocate put transfer send throw
rename: rename give call change name
restore: restore recover get-back reopen undelete bring-back
shuffle: shuffle randomize mix
sort: sort order arrange rank rearrange
filter: filter show narrow limit see
search: search find look look-for seek locate
replace: replace substitute change swap exchange
print: print put
rotate: rotate turn
flip: flip mirror turn
convert: convert turn change work-out transform make
align: align center centre justify line-up line make put
raise: raise bring move bring-front lift put
sink: lower send move
freeze: freeze keep lock fix
unfreeze: unfreeze
record: record capture take
subscribe: subscribe follow
unsubscribe: unsubscribe unfollow
mark: mark flag set tag
select: select choose pick highlight mark tick check
deselect: deselect unselect untick uncheck
type: type enter fill write put give
click: click press push hit choose
expand: expand unfold open show
collapse: collapse fold close hide
play: play start resume run continue
pause: pause halt interrupt stop hold
save as: save store
archive: archive
attach: attach add send include append
sign out: sign-out log-out
sign in: sign-in log-in
reply: reply answer respond
indent: indent
outdent: outdent unindent
join: join enter
leave: leave exit
mount: mount
unmount: unmount eject
promote: promote
demote: demote
publish: publish
unpublish: unpublish
sharpen: sharpen
blur: blur soften
refresh: refresh reload update
resize: resize scale enlarge shrink
edit: edit modify adjust change
restart: restart reboot
wrap: wrap break
unwrap: unwrap
comment: comment annotate
generate: generate create make
count: count
go: jump navigate
invite: invite add
rate: rate mark
reset: reset restore clear
forward: forward
"""

_OPPOSITES = """
create/remove open/close import/save show/hide enable/disable start/stop increase/decrease lock/unlock group/ungroup
merge/split mute/unmute connect/disconnect install/uninstall undo/redo pin/unpin send/receive upload/download
accept/reject allow/block compress/extract copy/paste freeze/unfreeze subscribe/unsubscribe select/deselect
expand/collapse play/pause zoom_in/zoom_out fade_in/fade_out raise/sink sign_in/sign_out restore/remove
restore/move restore/empty indent/outdent join/leave mount/unmount promote/demote publish/unpublish sharpen/blur
wrap/unwrap invite/remove
bookmark/remove attach/remove copy/remove freeze/hide open/save attach/save install/disable
"""

# Of each line, one word excludes the others.
_EXCLUSIVE = """
left right center centre | leftwards rightwards
horizontal vertical | horizontally vertically | landscape portrait | row column
ascending descending | clockwise counterclockwise | anticlockwise clockwise
next previous | following previous | forward backward | up down | upper lower | top bottom | above below | front back
dark light | darker lighter | basic advanced | uppercase lowercase | superscript subscript | odd even
read unread | public private | manual automatic | internal external | start end | beginning end
before after | maximum minimum | underline strikethrough | bold italic
day week month year
daily weekly monthly yearly
first second third fourth fifth last
primary secondary | larger smaller | bigger smaller | louder quieter | faster slower | wider narrower
brighter darker | more fewer
"""

_LIGHT = frozenset("make get put set give take turn switch use let have change go keep do bring write work".split())  # noqa: SIM905
_NOMINAL = frozenset(
    "a an the this that these those my your his her its our their each every some any no one of with from".split()  # noqa: SIM905
)
_OFTEN_NOUNS = frozenset(
    """
    line list view strip record recording filter start end mark set open play print search zip archive display type
    order group link cover rank share star pin block cut split copy change tag star mute scale swap hold press push hit
    reply answer forward sort present picture exchange finish repeat run freeze fix lock boost raise launch clear clean
    empty lower reduce merge close hidden less more no need resume limit
    """.split()  # noqa: SIM905
)
"""Verbs only where a clause begins."""
_CLAUSE_BEGINS = frozenset("and then to by or please also , not never without".split())  # noqa: SIM905
_REMOVES = frozenset("remove delete erase discard uninstall undo cancel clear get-rid rid unbookmark".split())  # noqa: SIM905
_NEGATIONS = frozenset("not never without stop no-longer dont don't avoid prevent anymore".split())  # noqa: SIM905
_PARTICLES = frozenset("on off in out up down back away".split())  # noqa: SIM905
_FORWARDS = ("turn", "switch", "zoom", "fade", "log", "sign", "slow", "speed", "bring", "take", "get", "line", "zip")
_FLIPPED_TO = re.compile(r"(?<!\w)(\w+) (?:in)?to (\w+)(?!\w)")
_LEAD = re.compile(r"^(?:how (?:to|do i|can i)|please|i (?:want|need|would like) to|can you)\s+", re.IGNORECASE)


def _base(word: str) -> str:
    """Return the verb of an -ing form, else the word."""
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        if stem[-1] == stem[-2] and stem[-1] not in "ls":
            stem = stem[:-1]
        return stem if stem in _FAMILY_OF or stem in _FORWARDS else stem + "e" if stem + "e" in _FAMILY_OF else word
    return word


def _read_families() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _FAMILIES.strip().replace("\n ", " ").splitlines():
        name, _, words = line.partition(":")
        for word in words.split():
            found.setdefault(word, set()).add(name.replace(" ", "_"))
    return {word: frozenset(names) for word, names in found.items()}


def _read_opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        left, _, right = pair.partition("/")
        found.setdefault(left, set()).add(right)
        found.setdefault(right, set()).add(left)
    return {name: frozenset(others) for name, others in found.items()}


def _read_exclusive() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _EXCLUSIVE.strip().splitlines():
        for some in line.split("|"):
            words = some.split()
            for word in words:
                found.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in found.items()}


_FAMILY_OF = _read_families()
_OPPOSITE = _read_opposites()
_EXCLUDES = _read_exclusive()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a sentence asks for.

    Attributes:
        verbs: Its verbs that are in a family, the light ones left out.
        families: Their families.
        heads: The families of the first of them.
        negated: Stems of what it wants not to be done.
        words: All of its words.
        undoing: Those such as "unpin" and "disconnect".
        exclusive: Those that exclude others.
        turned: Its pairs "A to B".
    """

    verbs: tuple[str, ...]
    families: frozenset[str]
    heads: frozenset[str]
    negated: frozenset[str]
    words: frozenset[str]
    undoing: frozenset[str]
    exclusive: frozenset[str]
    turned: frozenset[tuple[str, str]]


@lru_cache(maxsize=16_384)
def asked(text: str) -> Asked:
    """Read what a sentence asks for."""
    plain = _LEAD.sub("", text.casefold())
    words = _WORD.findall(plain)
    verbs: list[str] = []
    families: list[frozenset[str]] = []
    negated = False
    for place, word in enumerate(words):
        negated = negated or word in _NEGATIONS
        verb = _verb(words, place)
        if verb is None:
            continue
        of_verb = _FAMILY_OF[verb]
        if negated and word not in _NEGATIONS:
            of_verb = frozenset().union(*(_OPPOSITE.get(name, frozenset()) for name in of_verb))
            verb = f"not {verb}"
            negated = False
        verbs.append(verb)
        families.append(of_verb)
    return Asked(
        tuple(verbs),
        frozenset().union(*families),
        families[0] if families else frozenset(),
        frozenset(stem(words[place + 1]) for place in range(len(words) - 1) if words[place] in _NEGATIONS),
        frozenset(words),
        frozenset(word for word in words if word.startswith(("un", "dis"))),
        frozenset(word for word in words if word in _EXCLUDES),
        frozenset((a, b) for a, b in _FLIPPED_TO.findall(plain)),
    )


def _verb(words: list[str], place: int) -> str | None:
    """Return the verb at a place, with its particle; None for what is a noun or in no family."""
    word = _base(words[place])
    if place and words[place - 1] in _NOMINAL:
        return None
    if word in _FORWARDS and (phrase := _with_particle(word, words[place + 1 : place + 6])):
        return phrase
    if word in _LIGHT or word not in _FAMILY_OF:
        return None
    if place and words[place] in _OFTEN_NOUNS and words[place - 1] not in _CLAUSE_BEGINS:
        return None
    return word


def _with_particle(verb: str, following: list[str]) -> str | None:
    # The particle may stand behind the object, "switch line wrapping on"; "in" and "to" there begin something else.
    near = following[:1] + [word for word in following[1:] if word not in ("in", "to")]
    phrases = (f"{verb}-{word}" for word in near if word in _PARTICLES)
    return next((phrase for phrase in phrases if phrase in _FAMILY_OF), None)


def conflict(query: str, key: str) -> tuple[str, str] | None:
    """Return a word of the query and one of the key that ask for opposites; None where there are none."""
    one, other = asked(query), asked(key)
    found = _excluded(one, other) or _turned(one, other) or _opposite_heads(one, other)
    return found or _undone(one, other) or _undone(other, one) or _removed(one, other)


def _excluded(one: Asked, other: Asked) -> tuple[str, str] | None:
    for word in sorted(one.exclusive - other.exclusive):
        for excluded in sorted(_EXCLUDES[word] & other.exclusive - one.exclusive):
            return word, excluded
    return None


def _turned(one: Asked, other: Asked) -> tuple[str, str] | None:
    return next(((f"{a} to {b}", f"{b} to {a}") for a, b in sorted(one.turned) if (b, a) in other.turned), None)


def _opposite_heads(one: Asked, other: Asked) -> tuple[str, str] | None:
    if not one.heads or not other.heads or one.heads & other.heads:
        return None
    opposites = frozenset().union(*(_OPPOSITE.get(name, frozenset()) for name in one.heads))
    if opposites & other.heads:
        return one.verbs[0], other.verbs[0]
    return None


def _undone(one: Asked, other: Asked) -> tuple[str, str] | None:
    for word in sorted(one.negated - other.negated):
        if word in map(stem, other.words):
            return f"not {word}", word
    for word in sorted(one.undoing - other.words):
        if {word[2:], word[3:]} & other.words:
            return word, word[2:]
    return None


def _removed(one: Asked, other: Asked) -> tuple[str, str] | None:
    removing = next((verb for verb in one.verbs if verb in _REMOVES), None)
    return (removing, "(no such word)") if removing and not other.families else None


def compare_verbs(query: str, key: str) -> Verbs:
    """Tell whether verbs of two sentences ask for the same."""
    one, other = asked(query).families, asked(key).families
    if one and other:
        return "same" if one & other else "other"
    return "unclear" if one else "unknown"

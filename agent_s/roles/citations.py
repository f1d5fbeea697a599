"""Whether citations support a judgement: each must exist, say what is quoted, and bear on its point.

Evidence bears on a point if together it holds everything that the point claims literally (`find_missing`), and the
point's words (`find_unsaid`) or others for them, about which a model is asked (`agent_s.roles.evaluator`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import PurePosixPath

from agent_s.llm.protocol import Citation, Judgement, VerifyContext, VerifyResponse
from agent_s.probes.requests import Probe, ProbeResult
from agent_s.records import Verdict
from agent_s.roles.evidence import Evidence, NoEvidence
from agent_s.roles.probe_evidence import find_probe, probes_of
from agent_s.roles.screen_evidence import find_element, find_unchanged, find_window
from agent_s.roles.step_evidence import check_no_step, find_step
from intents.alignment import holds
from intents.lexicon import stem, stems
from intents.statements import Statement, read_statement

Ask = Callable[[Probe], ProbeResult]
Read = Callable[[Sequence["Finding"]], Sequence["Finding"]]
_LACKS_FILE = "it is about a file, so cite a probe of it"
SHARE = 0.5  # of the words that a point is about, those that its evidence must have, rounded up


@dataclass(frozen=True, slots=True)
class Finding:
    """The checked judgement of one point."""

    point: str  # the criterion or constraint
    met: bool | None  # the evaluator's judgement
    evidence: tuple[Evidence, ...] = ()  # what its citations show; empty if they do not support it
    problem: str = ""  # what is wrong with the citations; empty if they support it
    doubtful: tuple[Evidence, ...] = ()  # what they show if it has the point's values, but not all of its words

    @property
    def open(self) -> bool:
        """Whether it is neither refuted nor shown to be met."""
        return self.met is not False and not (self.met and self.evidence)


def check_citations(
    answer: VerifyResponse, context: VerifyContext, ask: Ask | None = None, read: Read | None = None
) -> tuple[Finding, ...]:
    """Check each judgement against what it cites.

    Args:
        answer: The evaluator's answer.
        context: What was judged.
        ask: Makes a probe, to compare the content of saved files with the screen; None if no files can be read.
        read: Decides about doubtful findings, if a success depends on nothing else; None if nobody can.

    Returns:
        One finding for each point; none if the answer rests on evidence that code has looked up, or claims nothing.
    """
    if not answer.judgements and (answer.evidence or not answer.verified):
        return ()
    by_point = {judgement.point: judgement for judgement in answer.judgements}
    bound = len(context.points) - context.constraints
    findings = [
        _check(point, by_point.get(number), context, forbids=number > bound, readable=ask is not None)
        for number, point in enumerate(context.points, start=1)
    ]
    unproven = [one for one in findings if one.open]
    if read is not None and answer.verified and unproven and all(one.doubtful for one in unproven):
        decided = iter(read(unproven))
        findings = [next(decided) if one.open else one for one in findings]
    return tuple(findings) if ask is None else tuple(_check_saved(findings, ask))


def find_unsupported(answer: VerifyResponse, findings: Sequence[Finding]) -> str:
    """Return which points of a claimed success are not supported; empty if all are, or if none is claimed."""
    if not answer.verified:
        return ""
    numbered = enumerate(findings, start=1)
    return "; ".join(
        f"point {number}: {one.problem or 'it is not said to be met'}" for number, one in numbered if one.open
    )


def make_verdict(answer: VerifyResponse, findings: Sequence[Finding]) -> Verdict:
    """Turn an answer into a verdict; a point counts as met only with evidence that supports it.

    Returns:
        Verified if every point is met and supported, refuted if one is not met, otherwise undecided.
    """
    evidence = (*answer.evidence, *(f"{one.point}: {shown.words}" for one in findings for shown in one.evidence))
    refuted = [one.point for one in findings if one.met is False]
    unproven = [f"{one.point} ({one.problem})" if one.problem else one.point for one in findings if one.open]
    verified, reason = answer.verified, answer.reason
    if refuted or verified is False:
        verified, reason = False, reason or f"not met: {'; '.join(refuted)}"
    elif unproven:
        verified, reason = None, f"not shown: {'; '.join(unproven)}"
    return Verdict(verified=verified, reason=reason, evidence=evidence, by="model")


def _look_up(citation: Citation, claim: Statement, context: VerifyContext, forbids: bool) -> Evidence:
    """Return what a citation shows about a claim.

    Args:
        citation: The citation.
        claim: The claim of the point that it is for.
        context: What was judged.
        forbids: Whether the point says what must not be done.

    Raises:
        NoEvidence: What it cites does not exist, does not say what is quoted, or shows nothing about a result.
    """
    match citation.of:
        case "element":
            return find_element(citation, claim, context)
        case "window":
            return find_window(citation, context.observation)
        case "step":
            return find_step(citation, claim, context)
        case "probe":
            return find_probe(citation, claim, context, forbids)
        case "unchanged":
            return find_unchanged(citation, claim, context)
        case "no_step":
            if not forbids:
                raise NoEvidence("that no step did something shows only that a prohibition was respected")
            return check_no_step(claim, context)


def _check(point: str, judgement: Judgement | None, context: VerifyContext, forbids: bool, readable: bool) -> Finding:
    if judgement is None:
        return Finding(point, None, problem="it was not judged")
    if not judgement.met:
        return Finding(point, judgement.met)
    claim = read_statement(point)
    shown, problems = [], []
    for citation in judgement.citations:
        try:
            shown.append(_look_up(citation, claim, context, forbids))
        except NoEvidence as problem:
            problems.append(str(problem))
    contrary = next((one for one in shown if one.shows == claim.denies), None)
    if contrary is not None:
        return Finding(point, True, problem=f"{contrary.words}, which is the contrary")
    if not shown:
        return Finding(point, True, problem="; ".join(problems) or "nothing is cited")
    if missing := find_missing(claim, shown, context.folders, readable and not forbids):
        return Finding(point, True, problem="; ".join((missing, *problems)))
    if unsaid := find_unsaid(claim, shown, readable and not forbids):
        return Finding(point, True, problem="; ".join((unsaid, *problems)), doubtful=tuple(shown))
    return Finding(point, True, tuple(shown))


def _check_saved(findings: Sequence[Finding], ask: Ask) -> list[Finding]:
    """Check that what a document shows on the screen is in the file, if the task is about a saved file."""
    files = {one.stored for finding in findings for one in finding.evidence if "/" in one.stored}
    if not files:
        return list(findings)
    return [_with_saved(finding, files, ask) for finding in findings]


def _with_saved(finding: Finding, files: set[str], ask: Ask) -> Finding:
    drawn = any(one.drawn for one in finding.evidence) and not any(one.stored for one in finding.evidence)
    claim = read_statement(finding.point)
    if not drawn or any(_has_all(claim, file, ask) for file in files):
        return finding
    problem = f"the screen shows it, but not the saved file {' or '.join(sorted(files))}"
    return Finding(finding.point, finding.met, problem=problem)


def _has_all(claim: Statement, file: str, ask: Ask) -> bool:
    """Return whether a saved file has the values of a claim, or cannot be read."""
    return all(ask(probe).holds is not False for probe in probes_of(claim, file))


def find_missing(claim: Statement, shown: Sequence[Evidence], folders: Sequence[str], readable: bool) -> str:
    """Return what must be found literally and is not: values, files and folders, and that there is nothing else.

    Args:
        claim: What a point claims.
        shown: The evidence that is cited for it.
        folders: Names of the folders in the home.
        readable: Whether what it says about files must be read from them.
    """
    stored = [one for one in shown if one.stored]
    if _lacks_file(claim, shown, readable) and (claim.files or any(one.drawn for one in shown)):
        return _LACKS_FILE
    if missing := _missing_value(claim, shown) or _wrong_place(claim, stored, folders):
        return missing
    if claim.exact and not any(one.exact for one in shown):
        return "nothing that is cited shows that there is nothing else"
    about = frozenset().union(*claim.topics)
    for value in () if stored and claim.files else claim.values:
        fields = [one for one in shown if one.has(value)]
        if about and all(one.filled and not about & one.stems for one in fields):
            return _unconnected(value, claim)
    if not claim.values and not stems(claim.text) & _stems(shown):
        return _missing_topic(claim, shown)
    return ""


def find_unsaid(claim: Statement, shown: Sequence[Evidence], readable: bool) -> str:
    """Return which words of a claim its evidence does not have; it may say the same in others. Empty if it has them.

    The arguments are those of `find_missing`.
    """
    if _lacks_file(claim, shown, readable):
        return _LACKS_FILE
    said = _stems(shown)
    if claim.predicate - said:
        return f"nothing that is cited says {_listed(claim.predicate - said, claim)}"
    if claim.files and any(one.stored for one in shown):  # a file and its values say what it is about
        return ""
    if not claim.values and claim.topics == (claim.deeds,) and any(one.confirms for one in shown):
        return ""  # that a dialog was confirmed, or a form was sent
    if missing := _missing_topic(claim, shown):
        return missing
    controls = frozenset().union(*(one.stems for one in shown if one.control))
    for value in claim.values:
        if not any(_carries(one, value, claim, controls) for one in shown):
            return _unconnected(value, claim)
    if not claim.values and claim.deeds - said:
        return f"nothing that is cited says {_listed(claim.deeds - said, claim)}"
    return ""


def _lacks_file(claim: Statement, shown: Sequence[Evidence], readable: bool) -> bool:
    return claim.saved and readable and not any(_is_saved(claim, one) for one in shown if one.stored)


def _is_saved(claim: Statement, shown: Evidence) -> bool:
    """Return whether evidence was read from a file, or from what else the claim says is saved, such as a bookmark."""
    return "/" in shown.stored or any(topics & shown.stems for topics in claim.topics)


def _missing_value(claim: Statement, shown: Sequence[Evidence]) -> str:
    for value in claim.values:
        if not any(one.has(value) for one in shown):
            return f"nothing that is cited shows {value!r}"
    for cell, value in claim.cells:
        if not any(one.says(cell) and one.says(value) for one in shown):
            return f"nothing that is cited shows {value!r} in {cell}"
    return ""


def _wrong_place(claim: Statement, stored: Sequence[Evidence], folders: Sequence[str]) -> str:
    named = {folder for folder in folders if holds(claim.text, folder)}
    stored = [one for one in stored if "/" in one.stored]
    if named and stored and not any(named <= set(PurePosixPath(one.stored).parts) for one in stored):
        return f"the file that is cited is not in {min(named)}"
    return ""


def _missing_topic(claim: Statement, shown: Sequence[Evidence]) -> str:
    said = _stems(shown)
    missing = next((topics for topics in claim.topics if not _is_about(topics, said)), None)
    return f"nothing that is cited is about {_listed(missing - said, claim)}" if missing is not None else ""


def _stems(shown: Sequence[Evidence]) -> frozenset[str]:
    return frozenset().union(*(one.stems | one.place_stems for one in shown))


def _unconnected(value: str, claim: Statement) -> str:
    said = claim.deeds or frozenset().union(*claim.topics)
    return f"what is cited for {value!r} does not connect it with {_listed(said, claim)}"


def _listed(stems: Collection[str], claim: Statement) -> str:
    """Return the words of a claim with these stems, in quotes."""
    words = dict.fromkeys(re.findall(r"[^\W\d_]+", claim.text))
    return repr(" ".join(word for word in words if stem(word.casefold()) in stems))


def _is_about(topics: frozenset[str], stems: frozenset[str], share: float = SHARE) -> bool:
    return len(topics & stems) >= ceil(share * len(topics))


def _carries(shown: Evidence, value: str, claim: Statement, controls: frozenset[str]) -> bool:
    """Return whether evidence connects a value with the rest of a claim; an input field only speaks about itself."""
    if not shown.has(value) or not (shown.stored or claim.deeds <= shown.stems | controls):
        return False
    if shown.filled:
        return any(_is_about(topics, shown.stems, 1.0) for topics in claim.topics) or not claim.topics
    return any(_is_about(topics, shown.stems | shown.place_stems) for topics in claim.topics) or not claim.topics

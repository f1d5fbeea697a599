"""Citation checks: each citation of a judgement must exist, match its quote and be relevant to its point.

The evidence for a point is sufficient if it contains all values that the point names (`find_missing`) and the words of
the point (`find_unmatched_words`). If only words are missing, the evaluator asks a model whether the evidence says the
same in other words (`agent_s.roles.evaluator`).
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

MakeProbe = Callable[[Probe], ProbeResult]
ResolveDoubts = Callable[[Sequence["Finding"]], Sequence["Finding"]]
_LACKS_FILE = "it is about a file, so cite a probe of it"
MIN_SHARE = 0.5  # minimum share of a point's topic words that its evidence must contain, rounded up


@dataclass(frozen=True, slots=True)
class Finding:
    """The checked judgement of one point."""

    point: str  # the criterion or constraint
    met: bool | None  # the evaluator's judgement
    evidence: tuple[Evidence, ...] = ()  # the cited evidence; empty if it does not support the point
    problem: str = ""  # what is wrong with the citations; empty if they support the point
    doubtful: tuple[Evidence, ...] = ()  # cited evidence that has the point's values, but not all of its words

    @property
    def open(self) -> bool:
        """Whether the point is neither refuted nor proven."""
        return self.met is not False and not (self.met and self.evidence)


def check_citations(
    answer: VerifyResponse,
    context: VerifyContext,
    make_probe: MakeProbe | None = None,
    resolve_doubts: ResolveDoubts | None = None,
) -> tuple[Finding, ...]:
    """Check each judgement against the evidence that it cites.

    Args:
        answer: The evaluator's answer.
        context: What was judged.
        make_probe: Callback that makes a probe, to compare saved files with the screen; None if no files can be read.
        resolve_doubts: Callback that decides doubtful findings, called if success depends on nothing else; None to
            leave them open.

    Returns:
        One finding per point; none if the answer brings evidence that code has looked up, or claims no success.
    """
    if not answer.judgements and (answer.evidence or not answer.verified):
        return ()
    by_point = {judgement.point: judgement for judgement in answer.judgements}
    criteria = len(context.points) - context.constraints  # the constraints follow the criteria
    findings = [
        _check_point(point, by_point.get(number), context, forbids=number > criteria, readable=make_probe is not None)
        for number, point in enumerate(context.points, start=1)
    ]
    unproven = [one for one in findings if one.open]
    if resolve_doubts is not None and answer.verified and unproven and all(one.doubtful for one in unproven):
        decided = iter(resolve_doubts(unproven))
        findings = [next(decided) if one.open else one for one in findings]
    return tuple(findings) if make_probe is None else tuple(_check_saved(findings, make_probe))


def find_unsupported(answer: VerifyResponse, findings: Sequence[Finding]) -> str:
    """Return which points of a claimed success lack support; empty if none does, or if no success is claimed."""
    if not answer.verified:
        return ""
    numbered = enumerate(findings, start=1)
    return "; ".join(
        f"point {number}: {one.problem or 'it is not said to be met'}" for number, one in numbered if one.open
    )


def make_verdict(answer: VerifyResponse, findings: Sequence[Finding]) -> Verdict:
    """Turn an answer into a verdict; a point counts as met only with supporting evidence.

    Returns:
        A verdict that is verified if every point is met and supported, refuted if one is not met, else undecided.
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
    """Resolve a citation to the evidence that it gives for a claim.

    Args:
        citation: The citation.
        claim: The claim of its point.
        context: What was judged.
        forbids: Whether the point is a prohibition.

    Raises:
        NoEvidence: The cited thing does not exist, does not match the quote, or shows nothing about a result.
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


def _check_point(
    point: str, judgement: Judgement | None, context: VerifyContext, forbids: bool, readable: bool
) -> Finding:
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
    if unmatched := find_unmatched_words(claim, shown, readable and not forbids):
        return Finding(point, True, problem="; ".join((unmatched, *problems)), doubtful=tuple(shown))
    return Finding(point, True, tuple(shown))


def _check_saved(findings: Sequence[Finding], make_probe: MakeProbe) -> list[Finding]:
    """Check that document content on the screen is also in the file, if the task is about a saved file."""
    files = {one.stored for finding in findings for one in finding.evidence if "/" in one.stored}
    if not files:
        return list(findings)
    return [_compare_with_files(finding, files, make_probe) for finding in findings]


def _compare_with_files(finding: Finding, files: set[str], make_probe: MakeProbe) -> Finding:
    drawn = any(one.drawn for one in finding.evidence) and not any(one.stored for one in finding.evidence)
    claim = read_statement(finding.point)
    if not drawn or any(_may_have_values(file, claim, make_probe) for file in files):
        return finding
    problem = f"the screen shows it, but not the saved file {' or '.join(sorted(files))}"
    return Finding(finding.point, finding.met, problem=problem)


def _may_have_values(file: str, claim: Statement, make_probe: MakeProbe) -> bool:
    """Return whether a saved file contains the values of a claim; True if it cannot be read."""
    return all(make_probe(probe).holds is not False for probe in probes_of(claim, file))


def find_missing(claim: Statement, shown: Sequence[Evidence], folders: Sequence[str], readable: bool) -> str:
    """Return what the evidence must contain literally and lacks: values, files, folders, proof of exactness.

    Args:
        claim: The claim of a point.
        shown: The evidence that is cited for it.
        folders: Names of the folders in the home directory.
        readable: Whether claims about files must be proven by probes of these files.
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
            return _not_connected(value, claim)
    if not claim.values and not stems(claim.text) & _stems(shown):
        return _missing_topic(claim, shown)
    return ""


def find_unmatched_words(claim: Statement, shown: Sequence[Evidence], readable: bool) -> str:
    """Return which words of a claim its evidence lacks, if any; it may still say the same in other words.

    The arguments are those of `find_missing`.
    """
    if _lacks_file(claim, shown, readable):
        return _LACKS_FILE
    said = _stems(shown)
    if claim.predicate - said:
        return f"nothing that is cited says {_quote_words(claim.predicate - said, claim)}"
    if claim.files and any(one.stored for one in shown):  # a file and its values say what it is about
        return ""
    if not claim.values and claim.topics == (claim.deeds,) and any(one.confirms for one in shown):
        return ""  # the claim is only that a dialog was confirmed or a form was sent
    if missing := _missing_topic(claim, shown):
        return missing
    controls = frozenset().union(*(one.stems for one in shown if one.control))
    for value in claim.values:
        if not any(_connects(one, value, claim, controls) for one in shown):
            return _not_connected(value, claim)
    if not claim.values and claim.deeds - said:
        return f"nothing that is cited says {_quote_words(claim.deeds - said, claim)}"
    return ""


def _lacks_file(claim: Statement, shown: Sequence[Evidence], readable: bool) -> bool:
    return claim.saved and readable and not any(_is_saved(claim, one) for one in shown if one.stored)


def _is_saved(claim: Statement, shown: Evidence) -> bool:
    """Return whether evidence was read from a file, or from a store that the claim is about, such as bookmarks."""
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
    return f"nothing that is cited is about {_quote_words(missing - said, claim)}" if missing is not None else ""


def _stems(shown: Sequence[Evidence]) -> frozenset[str]:
    return frozenset().union(*(one.stems | one.place_stems for one in shown))


def _not_connected(value: str, claim: Statement) -> str:
    said = claim.deeds or frozenset().union(*claim.topics)
    return f"what is cited for {value!r} does not connect it with {_quote_words(said, claim)}"


def _quote_words(stems: Collection[str], claim: Statement) -> str:
    """Return the words of a claim that have the given stems, in quotes."""
    words = dict.fromkeys(re.findall(r"[^\W\d_]+", claim.text))
    return repr(" ".join(word for word in words if stem(word.casefold()) in stems))


def _is_about(topics: frozenset[str], stems: frozenset[str], share: float = MIN_SHARE) -> bool:
    return len(topics & stems) >= ceil(share * len(topics))


def _connects(shown: Evidence, value: str, claim: Statement, controls: frozenset[str]) -> bool:
    """Return whether evidence connects a value with the rest of a claim; an input field is evidence of itself only."""
    if not shown.has(value) or not (shown.stored or claim.deeds <= shown.stems | controls):
        return False
    if shown.filled:
        return any(_is_about(topics, shown.stems, 1.0) for topics in claim.topics) or not claim.topics
    return any(_is_about(topics, shown.stems | shown.place_stems) for topics in claim.topics) or not claim.topics

"""The accessibility tree as XML, and rules in XPath about it.

Every element of an observation becomes an XML element named after its role (`push-button`) inside that of its window,
inside its application, with the attributes `name`, `description`, `value` and one `st:STATE="true"` per state; its
text is its content. Containers between window and element are left out, so write `//frame[@name="Notes"]//entry`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from aci.observation.observation import Observation
from aci.remote.accessibility_xml import NAMESPACES, xml_text
from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from evaluation.state.metrics import Score, score_of
from evaluation.state.parameters import Parameters
from evaluation.state.reading import Reading

if TYPE_CHECKING:
    from lxml.etree import _Element


class TreeRule(Parameters):
    """A rule about the tree."""

    xpath: str = ""  # XPath 1.0 of an element; namespaces as in `NAMESPACES`
    selectors: tuple[str, ...] = ()  # CSS selectors, any of which is enough, in place of an XPath
    text: str | None = None  # its content; None if any content is right
    exact: bool = True  # whether the content must equal `text`; otherwise their similarity counts

    @model_validator(mode="after")
    def _names_an_element(self) -> Self:
        if not self.xpath and not self.selectors:
            raise ValueError("a rule needs an xpath or selectors")
        return self

    @property
    def path(self) -> str:
        """The XPath of what is meant."""
        from cssselect import GenericTranslator

        return self.xpath or GenericTranslator().css_to_xpath(", ".join(self.selectors))


def accessibility_tree(context: TaskContext) -> Reading:
    """The visible elements of the screen, as XML."""
    observation = context.desktop.observe()
    return Reading(tree_of(observation), f"{len(observation.elements)} elements on the screen")


def check_accessibility_tree(result: str, rules: Annotated[tuple[TreeRule, ...], Field(min_length=1)]) -> Score:
    """Every rule finds an element, with its text."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    tree = etree.fromstring(result.encode(), parser)
    value, problems = 1.0, []
    for rule in rules:
        part, problem = _judged(rule, tree)
        value *= part
        problems += [problem] if problem else []
    return Score(value, "; ".join(problems) or "the accessibility tree is as expected")


def check_left_panel(result: str) -> Score:
    """The panel of slides of LibreOffice Impress is open."""
    found = 'name="Slides View"' in result and "<document-frame" in result
    return score_of(found, f"the panel of slides is {'' if found else 'not '}open")


def element_from_accessTree(context: TaskContext, *, selector: str) -> Reading:  # noqa: N802
    """Name of the first element that fits a CSS selector."""
    from lxml import etree

    tree = etree.fromstring(tree_of(context.desktop.observe()).encode())
    path = TreeRule(selectors=(selector.replace("\\:", "|"),)).path
    found = tree.xpath(path, namespaces=NAMESPACES)
    return Reading(found[0].get("name") if found else None, f"{len(found)} elements fit {selector}")


def tree_of(observation: Observation) -> str:
    """Return the XML of an observation."""
    from lxml import etree

    root = etree.Element("desktop-frame", nsmap=NAMESPACES)
    applications: dict[str, _Element] = {}
    windows: dict[int, _Element] = {}
    for window in observation.windows:
        if window.app not in applications:
            applications[window.app] = etree.SubElement(root, "application", name=xml_text(window.app))
        node = etree.SubElement(applications[window.app], "frame", name=xml_text(window.title))
        if window.active:
            node.set(f"{{{NAMESPACES['st']}}}active", "true")
        windows[window.id] = node
    for element in observation.elements:
        tag = re.sub(r"\W+", "-", element.role).strip("-") or "unknown"
        node = etree.SubElement(windows.get(element.window_id, root), tag, name=xml_text(element.name))
        if element.description:
            node.set("description", xml_text(element.description))
        if element.value is not None:
            node.set("value", f"{element.value:g}")
        for state in sorted(element.states):
            node.set(f"{{{NAMESPACES['st']}}}{state}", "true")
        if element.text:
            node.text = xml_text(element.text)
    text: str = etree.tostring(root, encoding="unicode")
    return text


def _judged(rule: TreeRule, tree: _Element) -> tuple[float, str]:
    """Return how well a rule holds, from 0 to 1, and what is wrong."""
    from cssselect import SelectorError
    from lxml import etree

    try:
        found = tree.xpath(rule.path, namespaces=NAMESPACES)
    except (etree.XPathError, SelectorError) as error:
        raise CheckFailed(f"{rule.xpath or rule.selectors} is not understood: {error}") from error
    if not isinstance(found, list):
        return float(bool(found)), "" if found else f"{rule.path} does not hold"
    if not found:
        return 0.0, f"nothing fits {rule.path}"
    if rule.text is None:
        return 1.0, ""
    texts = [str(node.text or "") if isinstance(node, etree._Element) else str(node) for node in found]
    best = max(_alike(text, rule.text, rule.exact) for text in texts)
    return best, "" if best == 1 else f"{rule.path} has the text {texts[0]!r}, expected {rule.text!r}"


def _alike(found: str, wanted: str, exact: bool) -> float:
    from rapidfuzz.fuzz import ratio

    return float(found == wanted) if exact else ratio(wanted, found) / 100

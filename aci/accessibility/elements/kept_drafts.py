"""Drafts of parts of a window that say the same as at an earlier look, such as a sheet beside a menu that opened."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.tree.names import label_of
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.snapshot import State

WIDE = 8  # number of children from which on the drafts in a node are kept


@dataclass(frozen=True, slots=True)
class _Part:
    """The drafts in one node, and all that they were made of."""

    around: Hashable  # what its ancestors mean for it
    says: list[Hashable]  # what it and its descendants say, parents first
    drafts: list[Draft]  # in reading order
    sources: list[int]  # the place of each draft's node among these
    as_found: list[tuple[str, str, frozenset[State]]]  # label, description and states, which ancestors may change

    def renewed(self, nodes: list[Node]) -> list[Draft]:
        """Return the drafts as they were found, with the present nodes."""
        for draft, source, values in zip(self.drafts, self.sources, self.as_found, strict=True):
            draft.node = nodes[source]
            draft.label, draft.description, draft.states = values
        return list(self.drafts)


class KeptDrafts:
    """Keeps the drafts in wide nodes of one application, such as tables and tool bars.

    A draft that is kept stays the same object, so that what is derived from it can be kept as well.
    """

    def __init__(self) -> None:
        self._parts: dict[Ref, _Part] = {}

    def find(
        self, application: Application, node: Node, around: Hashable, find: Callable[[], list[Draft]]
    ) -> list[Draft]:
        """Return the drafts in a node.

        Args:
            application: Its application.
            node: The node.
            around: What its ancestors mean for it.
            find: Finds the drafts; called only if anything differs from the latest call with this node.
        """
        nodes, says = _told(application, node)
        around = (around, application.toolkit, *_parent(application, node))
        known = self._parts.get(node.ref)
        if known is not None and known.around == around and known.says == says:
            return known.renewed(nodes)
        drafts = find()
        places = {id(each): place for place, each in enumerate(nodes)}
        self._parts[node.ref] = _Part(
            around,
            says,
            list(drafts),
            [places[id(draft.node)] for draft in drafts],
            [(draft.label, draft.description, draft.states) for draft in drafts],
        )
        return drafts

    def forget_the_gone(self, application: Application) -> None:
        """Drop the drafts in objects that no longer exist."""
        self._parts = {ref: part for ref, part in self._parts.items() if ref in application.nodes}


def _told(application: Application, node: Node) -> tuple[list[Node], list[Hashable]]:
    """Return a node and its descendants, parents first, and all that drafts are made of in each."""
    nodes: list[Node] = []
    says: list[Hashable] = []
    pending = [node]
    while pending:
        one = pending.pop()
        nodes.append(one)
        says.append(
            (
                one.ref,
                one.states,
                one.rect,
                one.text,
                one.name,
                one.role,
                one.description,
                one.child_count,
                len(one.children),
                one.cell,
                one.choice,
                one.value is None,
                one.popup,
                one.text_at,
                one.interfaces,
                one.attributes and tuple(one.attributes.items()),
                one.labels and label_of(application, one),
            )
        )
        pending += (*one.children, *one.runs)
    return nodes, says


def _parent(application: Application, node: Node) -> tuple[Hashable, ...]:
    parent = application.nodes.get(node.parent) if node.parent is not None else None
    return (parent.role, parent.has(StateBit.FOCUSED)) if parent is not None else ()

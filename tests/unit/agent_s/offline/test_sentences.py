"""Every sentence of the table, carried out in an office made by hand: what happens to which element."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agent_s.offline.reading import read_instruction, table
from tests.unit.agent_s.offline.office import DIALOG, FORM, SHEET, brief, react
from tests.unit.agent_s.offline.screens import act_out

SCREENS = {"form": FORM, "dialog": DIALOG, "sheet": SHEET}
DONE = yaml.safe_load(Path(__file__).with_name("done.yaml").read_text(encoding="utf-8"))
DOCUMENT = Path(__file__).parents[4] / "docs" / "offline_model.md"


def test_every_row_of_the_table_has_an_example_that_is_carried_out() -> None:
    examples = [example for row in table()["rows"] for example in row["examples"]]
    assert sorted(examples) == sorted(sentence for sentences in DONE.values() for sentence in sentences)


@pytest.mark.parametrize(
    ("screen", "sentence"), [(screen, sentence) for screen, sentences in DONE.items() for sentence in sentences]
)
def test_an_example_performs_its_primitives(screen: str, sentence: str) -> None:
    done = act_out(sentence, SCREENS[screen], react)
    assert done.ok, done.reason
    assert [brief(action) for action in done.actions] == DONE[screen][sentence]


def test_every_example_of_the_document_is_understood() -> None:
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][2:]
    sentences = [sentence.strip("` ") for row in rows for sentence in row.split("|")[2].split(" · ")]
    assert len(sentences) > 60
    for sentence in sentences:
        parts = read_instruction(sentence)
        assert parts, sentence
        assert all(part.command is not None for part in parts), sentence

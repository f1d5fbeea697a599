from __future__ import annotations

import pytest
from pydantic import ValidationError

from intents.intent import INTENT, Choose, Click, Do, Intent, Press, Save, Switch, Type


@pytest.mark.parametrize(
    ("intent", "sentence"),
    [
        (Switch(object="line numbers", state="on"), "turn on line numbers"),
        (Choose(object="theme", value="dark"), "set theme to dark"),
        (Press(keys=("ctrl+s",)), "press ctrl+s"),
        (Click(object="Save", count=2), "double-click Save"),
        (Type(value="Ada", object="Name"), 'type "Ada" into Name'),
        (Save(value="a.txt", place="Documents"), "save as a.txt in Documents"),
        (Do(verb="sort", object="rows"), "sort rows"),
    ],
)
def test_intent_is_json_and_an_english_sentence(intent: Intent, sentence: str) -> None:
    assert INTENT.validate_json(INTENT.dump_json(intent)) == intent
    assert intent.sentence == sentence


def test_intent_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        INTENT.validate_python({"kind": "open", "colour": "red"})

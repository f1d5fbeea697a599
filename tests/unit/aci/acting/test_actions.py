from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from aci.acting.actions import (
    ACTION_ADAPTER,
    PRIMITIVES,
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Read,
    SaveToBuffer,
    Scroll,
    SelectText,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
    format_call,
    parse_action,
)
from aci.acting.targets import Described, Place, Span, Target, Whole, Words
from aci.errors import MalformedAction
from aci.observation.geometry import Point, Rect

IDS = st.integers(0, 10**6)
KEYS = st.lists(st.text(min_size=1, max_size=8), max_size=4).map(tuple)
SOME_KEYS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4).map(tuple)
BUTTONS = st.sampled_from(["left", "middle", "right"])
PIXELS = st.tuples(st.integers(0, 4000), st.integers(0, 4000))
FRACTIONS = st.tuples(st.floats(0, 1), st.floats(0, 1))
INSIDE = st.none() | FRACTIONS | st.builds(Words, text=st.text(min_size=1), occurrence=st.integers(1, 9))
ACTIONS = st.one_of(
    st.builds(Click, element_id=IDS, num_clicks=st.integers(1, 3), button_type=BUTTONS, hold_keys=KEYS, at=INSIDE),
    st.builds(Click, at=PIXELS),
    st.builds(Type, text=st.text(), element_id=st.none() | IDS, overwrite=st.booleans(), enter=st.booleans()),
    st.builds(Scroll, element_id=IDS, clicks=st.integers(-100, 100), horizontal=st.booleans()),
    st.builds(Scroll, at=PIXELS, clicks=st.integers(-100, 100)),
    st.builds(DragAndDrop, from_at=PIXELS, path=st.lists(PIXELS, min_size=1, max_size=4).map(tuple)),
    st.builds(DragAndDrop, drag_from_id=IDS, from_at=INSIDE, drop_at=PIXELS, path=st.lists(FRACTIONS).map(tuple)),
    st.builds(Move, element_id=IDS, at=INSIDE),
    st.builds(MouseDown, element_id=IDS, at=INSIDE, button_type=BUTTONS),
    st.builds(MouseUp, button_type=BUTTONS),
    st.builds(KeyDown, keys=SOME_KEYS),
    st.builds(KeyUp, keys=SOME_KEYS),
    st.builds(SelectText, element_id=IDS, text=st.text(min_size=1), until=st.text()),
    st.builds(Zoom, element_id=IDS),
    st.builds(Zoom, region=st.just((10, 20, 300, 400))),
    st.builds(Read, element_id=st.none() | IDS, page=st.integers(1, 50)),
    st.builds(Hotkey, keys=SOME_KEYS),
    st.builds(HoldAndPress, hold_keys=KEYS, press_keys=SOME_KEYS),
    st.builds(DragAndDrop, drag_from_id=IDS, drop_on_id=IDS, hold_keys=KEYS),
    st.builds(SaveToBuffer, text=st.text()),
    st.builds(SwitchApplications, app_code=st.text(min_size=1, max_size=50)),
    st.builds(Wait, time=st.floats(0, 60)),
    st.just(Done()),
    st.builds(Fail, reason=st.text()),
    st.builds(CallUser, question=st.text(min_size=1)),
)


@given(ACTIONS)
def test_every_primitive_survives_both_forms(action: Action) -> None:
    assert parse_action(json.dumps(action.model_dump())) == action
    assert parse_action(format_call(action)) == action


def test_the_action_space_is_table_5_call_user_and_what_a_mouse_and_eyes_can_do() -> None:
    assert set(PRIMITIVES) == {
        "click", "type", "scroll", "hotkey", "hold_and_press", "drag_and_drop", "save_to_buffer",
        "switch_applications", "wait", "done", "fail", "call_user",
        "move", "mouse_down", "mouse_up", "key_down", "key_up", "select_text", "zoom", "read",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("agent.click(41)", (Whole(41),)),
        ('{"action": "click", "element_id": 41, "at": [0.25, 1]}', (Place(41, 0.25, 1),)),
        ('{"action": "click", "element_id": 41, "at": {"text": "fox", "occurrence": 2}}', (Span(41, "fox", 2),)),
        ('{"action": "click", "element_id": 41, "at": "fox"}', (Span(41, "fox"),)),
        ('{"action": "move", "at": [300, 200]}', (Point(300, 200),)),
        ("agent.scroll(41, -3, at=[0.5, 0.5], horizontal=True)", (Place(41, 0.5, 0.5),)),
        ("agent.type('x')", ()),
        ("agent.type('x', at=[7, 8])", (Point(7, 8),)),
        ("agent.drag_and_drop(3, 4)", (Whole(3), Whole(4))),
        ("agent.drag_and_drop(3, path=[[0, 0], [1, 0.5]])", (Whole(3), Place(3, 0, 0), Place(3, 1, 0.5))),
        ("agent.drag_and_drop(from_at=[1, 2], drop_at=[3, 4])", (Point(1, 2), Point(3, 4))),
        ("agent.mouse_up()", ()),
        ("agent.select_text(3, 'dog', 2)", (Span(3, "dog", 2),)),
        ("agent.zoom(region=[0, 10, 100, 60])", (Point(0, 10), Point(100, 60))),
        ("agent.read()", ()),
    ],
)
def test_a_primitive_points_at_elements_places_words_and_pixels(text: str, targets: tuple[Target, ...]) -> None:
    assert parse_action(text).targets() == targets


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"action": "click"}', "needs a target"),
        ('{"action": "click", "at": [0.5, 0.5]}', "two whole numbers"),
        ('{"action": "click", "at": [-1, 5]}', "two whole numbers"),
        ('{"action": "click", "element_id": 3, "at": [300, 200]}', "two fractions from 0 to 1"),
        ('{"action": "click", "element_id": 3, "at": [0.5]}', "Field required"),
        ('{"action": "click", "element_id": 3, "at": 7}', "it is a pair"),
        ('{"action": "click", "element_id": 3, "at": ""}', "at least 1 character"),
        ("agent.drag_and_drop(drop_on_id=3)", "needs a start"),
        ("agent.drag_and_drop(3)", "needs an end"),
        ("agent.drag_and_drop(3, path=[[5, 5]])", "two fractions"),
        ("agent.zoom()", "needs a target"),
        ("agent.zoom(region=[100, 10, 100, 60])", "right and bottom are larger"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused_with_what_is_wanted(text: str, said: str) -> None:
    with pytest.raises(MalformedAction, match=said):
        parse_action(text)


@pytest.mark.parametrize("width", [1, 7, 300])
def test_every_pixel_of_a_box_is_a_place_of_it(width: int) -> None:
    box = Rect(40, 50, width, 3)
    assert [Place(1, (n + 0.5) / width, 0).inside(box).x for n in range(width)] == list(range(40, 40 + width))
    assert Place(1, 1, 1).inside(box) == Point(box.right - 1, box.bottom - 1)
    assert Place(1, 0, 0).inside(box) == Point(40, 50)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('agent.click(41, 1, "left")', Click(element_id=41)),
        ("agent.type('abandoned', 3, True)", Type(text="abandoned", element_id=3, overwrite=True)),
        ("agent.hotkey(['ctrl', 's'])", Hotkey(keys=("ctrl", "s"))),
        ("  agent.done()\n", Done()),
        ('{"action": "click", "element_id": 41}', Click(element_id=41)),
    ],
)
def test_forms_of_the_paper_and_of_the_wire(text: str, action: Action) -> None:
    assert parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent.click(__import__('os').system('true'))", "literals"),
        ("agent.click(x)", "literals"),
        ("os.system('true')", "agent.NAME"),
        ("agent.click(1); agent.done()", "Not a primitive"),
        ("agent.done() or agent.fail()", "exactly one primitive"),
        ("agent.erase()", "Unknown primitive 'erase'"),
        ("agent.click(1, 2, 'left', [], [0.5, 0.5], 5)", "at most 5"),
        ("agent.click(1, element_id=2)", "twice"),
        ("agent.click(**{'element_id': 1})", "unpacked"),
        ("agent.click(-1)", "element_id"),
        ("agent.click(1, 101)", "num_clicks"),
        ("agent.wait(1e999)", "time"),
        ('{"action": "click"}', "element_id"),
        ('{"action": "click", "element_id": 1, "where": 3}', "where"),
        ('{"action": "click", "element_id": 1, "element_id": 2}', "twice"),
        ('{"action": "launch"}', "launch"),
        ('{"action": ', "JSON"),
        ("", "Not a primitive"),
        ("(" * 5000, "Not a primitive"),
        ("{" * 5000, "JSON"),
        ("agent.type('\x00')", "Not a primitive"),
    ],
)
def test_invalid_primitive_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(MalformedAction, match=said):
        parse_action(text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        action = parse_action(text)
    except MalformedAction:
        return
    assert ACTION_ADAPTER.validate_python(action.model_dump()) == action


def test_primitives_are_immutable() -> None:
    with pytest.raises(ValidationError):
        Click(element_id=1).element_id = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("true", "integer"), ("1.0", "integer"), ("1.5", "integer"), ('"1"', "integer"), ("null", "integer"),
        ("[1]", "integer"), ("-1", "greater than or equal to 0"), ("9" * 400, "less than or equal to"),
        ("9" * 5000, "JSON"), ("NaN", "integer"), ("1e400", "integer"), ('{"a": 1}', "integer"),
    ],
)  # fmt: skip
def test_id_that_is_not_a_whole_number_is_refused_with_a_hint(value: str, said: str) -> None:
    with pytest.raises(MalformedAction, match=said):
        parse_action(f'{{"action": "click", "element_id": {value}}}')
    python = {"true": "True", "null": "None", "NaN": "float('nan')", "1e400": "1e400"}.get(value, value)
    with pytest.raises(MalformedAction):
        parse_action(f"agent.click({python})")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({name for primitive in PRIMITIVES.values() for name in primitive.model_fields} - {"action"})


ANY_FIELDS = st.dictionaries(st.sampled_from(FIELDS) | st.text(), JSON, max_size=4)


@given(st.sampled_from(sorted(PRIMITIVES)) | JSON, ANY_FIELDS)
def test_any_fields_make_a_primitive_or_a_reason(name: object, fields: dict[str, object]) -> None:
    texts = [json.dumps({**fields, "action": name})]
    if isinstance(name, str) and name.isidentifier():
        texts.append(f"agent.{name}({', '.join(f'{key}={value!r}' for key, value in fields.items())})")
    for text in texts:
        try:
            action = parse_action(text)
        except MalformedAction as error:
            assert str(error)
        else:
            assert parse_action(json.dumps(action.model_dump())) == action


CODE = st.lists(
    st.sampled_from(
        ["agent", ".", "click", "type", "(", ")", "[", "]", "{", "}", "41", "'a'", ",", "=", "*", "**", "-", "+", " ",
         "lambda:0", "__import__('os')", "f'{1}'", "'a'*9**9", "\n", "if", "else", "await", "#", "text", "b''", "1j"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@given(CODE | CODE.map("agent.type({})".format) | CODE.map("agent.click(41, {})".format))
def test_code_is_never_run(code: str) -> None:
    try:
        action = parse_action(code)
    except MalformedAction:
        return
    assert parse_action(format_call(action)) == action


def test_words_without_an_element_describe_something_that_a_grounding_model_looks_for() -> None:
    (target,) = parse_action('{"action": "click", "at": "the red fox"}').targets()
    assert target == Described("the red fox")

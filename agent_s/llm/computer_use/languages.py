"""Parsers for the action languages of open models; no text is ever executed.

Parsing has two stages: the text is parsed into calls of names with plain values (`read`), and a table maps each name to
primitives (`ACTIONS`).
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from aci.acting.actions import CallUser, Done, Fail, SwitchApplications
from agent_s.llm.computer_use.formats import Language
from agent_s.llm.computer_use.inputs import WHEEL_PX, Actions, Acts, Fields, Hand
from agent_s.llm.providers.structured import MAX_ANSWER, Unreadable, without_thinking

Said = tuple[str, Fields]  # a name and its arguments; positional ones by their numbers, such as "0"

PLACES = ("coordinate", "point", "start_box", "point_2d", "position", "0")  # arguments that contain a position
NUMBER = r"-?\d+(?:\.\d+)?"
SCROLL_CLICKS = 5  # of the wheel, for models that name a direction only
WAIT_S = 5.0  # for models that name no time

_TOOL_CALL = re.compile(r"<(seed:)?tool_call>(.*?)</(?:seed:)?tool_call>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=(\w+)>(.*?)</parameter>", re.DOTALL)
_CODE = re.compile(r"```(?:python|code)?\s*\n(.*?)```", re.DOTALL)
_PAIR = re.compile(rf"[^\d-]*?[(\[]?\s*({NUMBER})\s*,\s*({NUMBER})\s*[)\]]?\D*", re.DOTALL)
_ACTION = re.compile(r"^\s*Action:", re.MULTILINE)
_TYPED = re.compile(r"""^type\(content=(['"])(.*)\1\)$""", re.DOTALL)


def read(text: str, language: Language) -> tuple[str, list[Said]]:
    """Read an answer.

    Returns:
        The model's reasoning, and its actions in order.

    Raises:
        Unreadable: It is not valid.
    """
    if len(text) > MAX_ANSWER:
        raise Unreadable(f"the answer has {len(text)} characters; at most {MAX_ANSWER} are read")
    body = without_thinking(text)
    match language:
        case "qwen" | "seed":
            thought, said = _tool_calls(body)
        case "ui_tars":
            thought, said = _action_line(body)
        case "pyautogui":
            thought, said = _code(body)
        case "pair":
            thought, said = "", _pair(body)
        case "json":
            thought, said = "", [("", _json_object(body[body.find("{") : body.rfind("}") + 1]))]
    if not said:
        raise Unreadable("there is no action in the answer")
    return thought.strip(), said


def find_place(text: str, language: Language) -> tuple[float, float]:
    """Return the only position in an answer, in the model's coordinates.

    Raises:
        Unreadable: There is none, or it is ambiguous.
    """
    _, ((_, fields), *more) = read(text, language)
    if more:
        raise Unreadable("the answer names several places")
    return place_of(fields)


def place_of(fields: Fields, *names: str) -> tuple[float, float]:
    """Return the position in the arguments of an action: a pair, the center of a box, or x and y.

    Raises:
        Unreadable: There is no position.
    """
    for name in names or PLACES:
        if name in fields and (numbers := _numbers(fields[name])):
            if len(numbers) == 4:
                return (numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2
            if len(numbers) == 2:
                return numbers[0], numbers[1]
    x, y = fields.get("x", fields.get("0")), fields.get("y", fields.get("1"))
    if isinstance(x, int | float) and isinstance(y, int | float):
        return x, y
    raise Unreadable("the answer names no place")


def _numbers(value: object) -> list[float]:
    if isinstance(value, str):
        return [float(number) for number in re.findall(NUMBER, value)]
    return [float(one) for one in value if isinstance(one, int | float)] if isinstance(value, Sequence) else []


# The first stage: calls with plain values


def _tool_calls(text: str) -> tuple[str, list[Said]]:
    """Read `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, or the same with `<function=...>`."""
    said: list[Said] = []
    for call in _TOOL_CALL.finditer(text):
        body = call[2].strip()
        if (function := _FUNCTION.search(body)) is not None:
            name: object = function[1]
            fields: Any = {one[1]: _plain(one[2].strip()) for one in _PARAMETER.finditer(function[2])}
        else:
            whole = _json_object(body)
            name, fields = whole.get("name"), whole.get("arguments")
        if not isinstance(fields, dict):
            raise Unreadable("a tool call has the arguments in one object")
        said.append((str(fields.get("action") if name == "computer_use" else name), fields))
    return text.partition("<tool_call>")[0].partition("<seed:tool_call>")[0], said


def _plain(text: str) -> Any:
    """Return the value of a parameter: JSON if it is a list or a number, else its text."""
    if not re.fullmatch(rf"{NUMBER}|\[.*\]", text, re.DOTALL):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json_object(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Unreadable("the answer is one JSON object")
    return fields


def _action_line(text: str) -> tuple[str, list[Said]]:
    """Read `Thought: ... Action: click(point='<point>1 2</point>')`."""
    begins = [found.end() for found in _ACTION.finditer(text)] or [text.rfind("Action:") + len("Action:")]
    if "Action:" not in text:
        raise Unreadable("the answer has no line that begins with Action:")
    thought, action = text[: begins[-1]].rpartition("Action:")[0], text[begins[-1] :].strip()
    if (typed := _TYPED.match(action)) is not None:  # the text may hold quotes and line ends as they are
        said: list[Said] = [("type", {"content": _unescaped(typed[2])})]
    else:
        said = _calls(action)
    return thought.replace("Thought:", "", 1), said


def _unescaped(text: str) -> str:
    names = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda one: names.get(one[1], one[1]), text, flags=re.DOTALL)


def _code(text: str) -> tuple[str, list[Said]]:
    """Read a block of calls of `pyautogui` and `computer`."""
    blocks = list(_CODE.finditer(text))
    if blocks:
        return text[: blocks[-1].start()], _calls(blocks[-1][1])
    lines = [line for line in text.splitlines() if re.match(r"\s*(pyautogui|computer)\.\w+\(", line)]
    return text.partition(lines[0])[0] if lines else text, _calls("\n".join(map(str.strip, lines)))


def _calls(code: str) -> list[Said]:
    """Read Python calls with literal arguments; nothing else is accepted, and nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of a model's text, not of this program
            tree = ast.parse(code.strip())
            return [_call(statement) for statement in tree.body if not isinstance(statement, ast.Import)]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise Unreadable(f"not a list of calls with plain values: {error}") from error


def _call(statement: ast.stmt) -> Said:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise Unreadable("only calls with plain values are accepted")
    call = statement.value
    fields = {str(place): ast.literal_eval(argument) for place, argument in enumerate(call.args)}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in fields:
            raise Unreadable("an argument is given twice or unpacked")
        fields[keyword.arg] = ast.literal_eval(keyword.value)
    return ast.unparse(call.func), fields


def _pair(text: str) -> list[Said]:
    found = _PAIR.fullmatch(text)
    if found is None:
        raise Unreadable("the answer is one place, (x, y), and no other number")
    return [("", {"x": float(found[1]), "y": float(found[2])})]


# The second stage: what the calls do


def _where(fields: Fields, *names: str) -> tuple[float, float] | None:
    """Return the place among the arguments; None if none is given, for where the pointer is.

    Raises:
        Unreadable: What is given is no place.
    """
    given = any(fields.get(name) not in (None, "") for name in (*(names or PLACES), "x", "y"))
    return place_of(fields, *names) if given else None


def _first(fields: Fields, *names: str, default: Any = None) -> Any:
    """Return the first of these arguments that is given.

    Raises:
        KeyError: None is, and there is no default.
    """
    for name in names:
        if name in fields:
            return fields[name]
    if default is None:
        raise KeyError(names[0])
    return default


def _end(fields: Fields) -> Actions:
    failed = str(_first(fields, "status", "0", default="success")).lower() in ("failure", "fail", "infeasible")
    return (Fail(reason=str(fields.get("reason", ""))[:4000]),) if failed else (Done(),)


def _open(hand: Hand, fields: Fields) -> Actions:
    """Start an application or bring it to the front; a desktop may be empty, and show nothing that could be clicked."""
    return (SwitchApplications(app_code=str(_first(fields, "app_name", "name", "text", "0"))),)


def _ask(hand: Hand, fields: Fields) -> Actions:
    question = str(
        _first(fields, "question", "text", "content", default="The model asks for your help with this screen.")
    )
    return (CallUser(question=question[:4000]),)


def _direction(hand: Hand, fields: Fields) -> Actions:
    steps = {"up": (1, 0), "down": (-1, 0), "left": (0, -1), "right": (0, 1)}
    direction = str(_first(fields, "direction")).lower()
    if direction not in steps:
        raise Unreadable(f"there is no direction {direction!r}")
    up, right = steps[direction]
    return hand.scroll(_where(fields), up * SCROLL_CLICKS, right * SCROLL_CLICKS)


def _pressed(hand: Hand, fields: Fields) -> Actions:
    """`pyautogui.press` presses keys one after another; each may be a list."""
    keys = _first(fields, "keys", "key", "0")
    times = int(_first(fields, "presses", "1", default=1))
    one_by_one = [keys] if isinstance(keys, str) else list(keys)
    return tuple(action for key in one_by_one for action in hand.press(key, times))


def _chord(hand: Hand, fields: Fields) -> Actions:
    keys = fields.get("keys", fields.get("0", ()))
    listed = list(keys) if isinstance(keys, list | tuple) else [value for name, value in sorted(fields.items())]
    return hand.press(listed)


def _clicks(count: int, button: Any) -> Acts:
    return lambda hand, fields: hand.click(
        _where(fields), int(fields.get("clicks", count)), fields.get("button", button)
    )


def _click(hand: Hand, fields: Fields) -> Actions:
    """`pyautogui.click(x, y, clicks, interval, button)`."""
    return _clicks(fields.get("2", 1), fields.get("4", "left"))(hand, fields)


def _button(down: bool) -> Acts:
    def act(hand: Hand, fields: Fields) -> Actions:
        """`pyautogui.mouseDown(x, y, button)`."""
        if (place := _where(fields)) is not None:
            hand.at(place)
        return hand.button(down, _first(fields, "button", "2", default="left"))

    return act


def _drag_to(hand: Hand, fields: Fields) -> Actions:
    """`pyautogui.dragTo(x, y, duration, tween, button)`."""
    if (button := _first(fields, "button", "4", default="left")) != "left":
        raise Unreadable(f"only the left button drags, not {button!r}")
    return hand.drag([place_of(fields)])


def _turned(fields: Fields) -> tuple[float, tuple[float, float] | None]:
    """Return the clicks of the wheel and the place of `pyautogui.scroll(clicks, x, y)`."""
    place = {"x": fields.get("x", fields.get("1")), "y": fields.get("y", fields.get("2"))}
    return _first(fields, "clicks", "0"), _where(place)


def _scroll(hand: Hand, fields: Fields) -> Actions:
    clicks, place = _turned(fields)
    return hand.scroll(place, up=clicks)


def _scroll_aside(hand: Hand, fields: Fields) -> Actions:
    clicks, place = _turned(fields)
    return hand.scroll(place, right=clicks)


_QWEN: Mapping[str, Acts] = {
    "left_click": lambda hand, fields: hand.click(_where(fields, "coordinate"), keys=fields.get("keys")),
    "click": lambda hand, fields: hand.click(_where(fields, "coordinate")),
    "right_click": lambda hand, fields: hand.click(_where(fields, "coordinate"), 1, "right"),
    "middle_click": lambda hand, fields: hand.click(_where(fields, "coordinate"), 1, "middle"),
    "double_click": lambda hand, fields: hand.click(_where(fields, "coordinate"), 2),
    "triple_click": lambda hand, fields: hand.click(_where(fields, "coordinate"), 3),
    "mouse_move": lambda hand, fields: hand.move(place_of(fields, "coordinate")),
    "left_click_drag": lambda hand, fields: hand.drag([place_of(fields, "coordinate")]),
    "key": lambda hand, fields: hand.press(fields["keys"]),
    "type": lambda hand, fields: hand.type(fields["text"]),
    "scroll": lambda hand, fields: hand.scroll(_where(fields, "coordinate"), up=fields["pixels"] / WHEEL_PX),
    "hscroll": lambda hand, fields: hand.scroll(_where(fields, "coordinate"), right=fields["pixels"] / WHEEL_PX),
    "wait": lambda hand, fields: hand.wait(fields["time"]),
    "terminate": lambda hand, fields: _end(fields),
    "answer": lambda hand, fields: (Done(),),
    "interact": _ask,
    "call_user": _ask,
    "open": _open,
}
_UI_TARS: Mapping[str, Acts] = {
    "click": lambda hand, fields: hand.click(place_of(fields)),
    "left_double": lambda hand, fields: hand.click(place_of(fields), 2),
    "right_single": lambda hand, fields: hand.click(place_of(fields), 1, "right"),
    "drag": lambda hand, fields: hand.drag(
        [place_of(fields, "start_point", "start_box"), place_of(fields, "end_point", "end_box")]
    ),
    "hotkey": lambda hand, fields: hand.press(_first(fields, "key", "hotkey")),
    "type": lambda hand, fields: hand.type(_first(fields, "content")),
    "scroll": _direction,
    "wait": lambda hand, fields: hand.wait(_first(fields, "time", default=WAIT_S)),
    "finished": lambda hand, fields: (Done(),),
    "call_user": _ask,
    "open_app": _open,
}
_PYAUTOGUI: Mapping[str, Acts] = {
    "computer.open_app": _open,
    "pyautogui.click": _click,
    "pyautogui.doubleClick": _clicks(2, "left"),
    "pyautogui.tripleClick": _clicks(3, "left"),
    "pyautogui.rightClick": _clicks(1, "right"),
    "pyautogui.middleClick": _clicks(1, "middle"),
    "computer.triple_click": _clicks(3, "left"),
    "pyautogui.moveTo": lambda hand, fields: hand.move(place_of(fields)),
    "pyautogui.dragTo": _drag_to,
    "pyautogui.mouseDown": _button(down=True),
    "pyautogui.mouseUp": _button(down=False),
    "pyautogui.scroll": _scroll,
    "pyautogui.hscroll": _scroll_aside,
    "pyautogui.write": lambda hand, fields: hand.type(_first(fields, "message", "0")),
    "pyautogui.typewrite": lambda hand, fields: hand.type(_first(fields, "message", "0")),
    "pyautogui.press": _pressed,
    "pyautogui.hotkey": _chord,
    "pyautogui.keyDown": lambda hand, fields: hand.key(_first(fields, "key", "0"), down=True),
    "pyautogui.keyUp": lambda hand, fields: hand.key(_first(fields, "key", "0"), down=False),
    "pyautogui.sleep": lambda hand, fields: hand.wait(_first(fields, "seconds", "0")),
    "time.sleep": lambda hand, fields: hand.wait(_first(fields, "0")),
    "computer.wait": lambda hand, fields: hand.wait(_first(fields, "seconds", "0", default=WAIT_S)),
    "computer.terminate": lambda hand, fields: _end(fields),
    "computer.call_user": _ask,
}
ACTIONS: Mapping[Language, Mapping[str, Acts]] = {
    "qwen": _QWEN, "ui_tars": _UI_TARS, "seed": _UI_TARS, "pyautogui": _PYAUTOGUI,
}  # fmt: skip
"""What each name of a language does."""

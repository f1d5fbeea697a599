"""Tasks that are learned with some values and replayed with others, whose right result is known by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from aci.acting.actions import Action, Click, Hotkey, SwitchApplications, Type
from aci.observation.observation import Element, Observation

Move = Callable[[Observation], Action]
Part = tuple[str, tuple[Move, ...]]
"""The name of a subtask, and what a model does in it."""

NOTE, SHEET, DOCUMENT, SENT = "note", "sheet", "document", "sent"


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one run of a task."""

    said: Mapping[str, str]  # those that the wording says
    result: str | None  # the right result; None if there is none, so that only handing over is right
    page: str = ""  # body of the web page; empty if the task needs none
    hard: str = ""  # why it is hard, in words; may be empty


@dataclass(frozen=True, slots=True)
class LearnedTask:
    """A task."""

    name: str
    wording: str  # with the said values in braces
    # programs to start, in order; the last one is in front. "page" stands for a browser with the page
    programs: tuple[str, ...]
    parts: Callable[[Values], Sequence[Part]]  # return what the model does when it is learned, for the values
    learned: Values  # the values when it is learned
    now: tuple[Values, ...]  # the values of its replays
    # where the result is checked: the note's file, cell A1 of the sheet, the document, or what was sent
    place: str = NOTE
    derived: bool = True  # whether the result stands in no wording

    def instruction(self, values: Values) -> str:
        """Return the wording with values."""
        return self.wording.format(**values.said)


@dataclass(frozen=True, slots=True)
class _Type:
    """Types into an element, found by role, name and application."""

    text: str
    role: str = ""
    name: str = ""
    app: str = ""
    options: Mapping[str, bool] = field(default_factory=dict)

    def __call__(self, seen: Observation) -> Action:
        target = _find(seen, self.role, self.name, self.app).id if self.role else None
        return Type.model_validate({"text": self.text, "element_id": target, **self.options})


def _find(seen: Observation, role: str, name: str, app: str) -> Element:
    alike = (one for one in seen.elements if one.role == role and one.name == name and app in one.app.casefold())
    found = next((one for one in alike if "editable" in one.states or role != "text"), None)
    if found is None:
        raise LookupError(f"no {role} {name!r} of {app or 'any application'} on the screen")
    return found


def _click(role: str, name: str) -> Move:
    return lambda seen: Click(element_id=_find(seen, role, name, "").id)


def _to(app: str) -> Move:
    return lambda seen: SwitchApplications(app_code=app)


def _press(*keys: str) -> Move:
    return lambda seen: Hotkey(keys=keys)


def _note(text: str) -> tuple[Move, ...]:
    return _to("mousepad"), _Type(text, "text", "", "mousepad"), _press("ctrl", "s")


def _page(*lines: str) -> str:
    return "".join(lines)


# Sums from the calculator


def _compute(values: Values) -> Sequence[Part]:
    told, result = values.said["sum"], values.result or ""
    return (
        (f"Compute {told} in the calculator", (_Type(told, "text", "", "calculator", {"enter": True}),)),
        (f"Write the result {result} into the note and save it", _note(result)),
    )


def _sum(told: str, result: str | None, hard: str = "") -> Values:
    return Values({"sum": told}, result, hard=hard)


CALCULATOR = ("note", "gnome-calculator")
SUMS = LearnedTask(
    "sum from the calculator",
    "Compute '{sum}' in the calculator and write the result into the note, then save it.",
    CALCULATOR,
    _compute,
    _sum("12*34", "408"),
    (
        _sum("56*78", "4368"),
        _sum("17+25", "42"),
        _sum("9-31", "-22", "a negative number"),
        _sum("7/2", "3.5", "a fraction"),
        _sum("1000*1000", "1000000"),
        _sum("34*12", "408", "the result of the first run, again"),
        _sum("400+8-408", "0"),
        _sum("2*+", None, "Malformed expression"),
        _sum("5/0", None, "division by zero"),
        _sum("408", "408", "the learned result stands in the wording"),
    ),
)
COINCIDENCE = LearnedTask(
    "result that equals a value of the wording",
    "Compute {first} times {second} in the calculator and write the result into the note, then save it.",
    CALCULATOR,
    lambda values: (
        (
            f"Compute {values.said['first']} times {values.said['second']}",
            (_Type(f"{values.said['first']}*{values.said['second']}", "text", "", "calculator", {"enter": True}),),
        ),
        ("Write the result into the note and save it", _note(values.result or "")),
    ),
    Values({"first": "1", "second": "5"}, "5"),
    (
        Values({"first": "3", "second": "4"}, "12", hard="the learned result was also a value of the wording"),
        Values({"first": "1", "second": "9"}, "9", hard="the result is a value of the wording again"),
        Values({"first": "6", "second": "5"}, "30", hard="the value that was the result stays in the wording"),
    ),
)

# Codes, prices, counts and dates from a page


def _copied(values: Values) -> Sequence[Part]:
    return (("Copy it from the page into the note and save it", _note(values.result or "")),)


def _order(code: str, last: str = "QX-511", before: str = "") -> str:
    return _page(
        "<h1>Order of Ada</h1>", before, f"<p>Your code is <b>{code}</b></p>", f"<p>Your last code was {last}</p>"
    )


CODES = LearnedTask(
    "code in a sentence of a page",
    "Copy the code of the order on the page into the note and save it.",
    ("note", "page"),
    _copied,
    Values({}, "8123", _order("8123")),
    (
        Values({}, "5507", _order("5507")),
        Values({}, "90210", _order("90210")),
        Values({}, "44871", _order("44871", "8123"), "the old code is still on the page"),
        Values({}, None, _order(""), "there is no code"),
        Values({}, None, _order("not ready"), "there are words in its place"),
        Values({}, "7716", _order("7716", before="<p>Use code SALE-2026 at the till.</p>"), "a code of something else"),
        Values({}, "3094", "<table><tr><td>Code</td><td>3094</td></tr></table>", "another layout"),
        Values({}, "1288", _order("1288", "1288"), "the same number twice"),
    ),
)


def _ticket(value: str, above: str = "", below: str = "") -> str:
    return _page(
        "<h1>Ticket</h1>",
        above,
        f"<dl><dt>Booking reference</dt><dd>{value}</dd>{below}<dt>Seats</dt><dd>2</dd></dl>",
    )


TICKETS = LearnedTask(
    "reference beside its label",
    "Put the booking reference of the ticket into the note and save it.",
    ("note", "page"),
    _copied,
    Values({}, "KL-4471-B", _ticket("KL-4471-B")),
    (
        Values({}, "ZT-9080-Q", _ticket("ZT-9080-Q")),
        Values({}, "AB-1002-C", _ticket("AB-1002-C", above="<p>Thank you for your booking.</p>")),
        Values({}, "MM-3131-X", _ticket("MM-3131-X", below="<dt>Hotel</dt><dd>HH-2222-Y</dd>"), "another one below"),
        Values({}, None, _ticket("pending"), "it is not there yet"),
        Values({}, "PQ-5555-R", "<p>Reference: PQ-5555-R</p><p>Parking: PK-4444-S</p>", "another layout"),
        Values({}, "K9471B", _ticket("K9471B"), "another form"),
    ),
)


def _shop(prices: Mapping[str, str]) -> str:
    table = ", ".join(f"'{name}': '{price}'" for name, price in prices.items())
    return _page(
        '<h1>Shop</h1><p><label>Product <input id=q></label> <button onclick="find()">Find</button></p>',
        "<p id=r>Price: -</p>",
        f"<script>const prices = {{{table}}};",
        "const find = () => setTimeout(() => { document.getElementById('r').textContent = 'Price: ' +",
        " (prices[document.getElementById('q').value] || 'unknown'); }, 400);</script>",
    )


def _looked_up(values: Values) -> Sequence[Part]:
    product = values.said["product"]
    return (
        (f"Look up {product} in the shop", (_Type(product, "entry", "Product"), _click("push button", "Find"))),
        ("Write the price into the note and save it", _note(values.result or "")),
    )


def _price(product: str, price: str | None, shown: str = "", hard: str = "") -> Values:
    return Values({"product": product}, price, _shop({product: shown or price or "unknown"}), hard)


PRICES = LearnedTask(
    "price after a search",
    "Look up '{product}' in the shop and write its price into the note, then save it.",
    ("note", "page"),
    _looked_up,
    _price("pears", "19.50"),
    (
        _price("plums", "7.25"),
        _price("quinces", "112.00"),
        _price("figs", "1,204.00"),
        _price("pears", "21.75", hard="the same product, another price"),
        _price("walnuts", None, hard="no such product"),
        _price("19.50", "33.10", hard="the learned price is the product"),
    ),
)
NUMBERS = LearnedTask(
    "price that equals the number of the product",
    "Look up '{product}' in the shop and write its price into the note, then save it.",
    ("note", "page"),
    _looked_up,
    _price("408", "408"),
    (
        _price("77", "19", hard="the number of the product is not its price any more"),
        _price("408", "55", hard="the same number, another price"),
    ),
)


def _counted(count: str, closed: str = "3") -> str:
    rows = "".join(f"<tr><td>{4000 + number}</td><td>open</td></tr>" for number in range(int(count or 0)))
    return _page(f"<h1>Orders</h1><p>{count} open orders</p><p>{closed} closed orders</p><table>{rows}</table>")


COUNTS = LearnedTask(
    "count that a page states",
    "Write how many open orders the page lists into the note and save it.",
    ("note", "page"),
    _copied,
    Values({}, "7", _counted("7")),
    (
        Values({}, "4", _counted("4")),
        Values({}, "12", _counted("12", "7"), "the old count is the count of something else"),
        Values({}, "5", _counted("5", "5"), "the same number twice"),
        Values({}, "9", _counted("9").replace("9 open orders", ""), "nothing states it"),
    ),
)
UNSTATED = LearnedTask(
    "count that only the model knows",
    "Count the open orders on the page and write the number into the note, then save it.",
    ("note", "page"),
    _copied,
    Values({}, "3", _counted("3", "8").replace("3 open orders", "")),
    (
        Values({}, "5", _counted("5", "8").replace("5 open orders", ""), "a count in nobody's wording"),
        Values({}, "8", _counted("8", "3").replace("8 open orders", ""), "the old count is on the page by coincidence"),
    ),
)


def _day(today: str, changed: str = "2026-11-22") -> str:
    return _page(f"<p>Today: {today}</p><p>Last change: {changed}</p>")


DAYS = LearnedTask(
    "date of today",
    "Write the date of today from the page into the note and save it.",
    ("note", "page"),
    _copied,
    Values({}, "2026-11-22", _day("2026-11-22")),
    (
        Values({}, "2026-11-23", _day("2026-11-23"), "it changed overnight"),
        Values({}, "2027-01-01", _day("2027-01-01", "2027-01-01")),
        Values({}, "2026-12-05", "<p>Last change: 2026-11-22</p>", "only another date is left"),
    ),
)
TOTALS = LearnedTask(
    "total in the format of another country",
    "Write the total of the bill on the page into the note, with a decimal point, and save it.",
    ("note", "page"),
    _copied,
    Values({}, "1234.50", "<p>Items: 3</p><p>Total: 1.234,50 EUR</p><p>Paid: 0,00 EUR</p>"),
    (
        Values({}, "99.90", "<p>Items: 1</p><p>Total: 99,90 EUR</p><p>Paid: 0,00 EUR</p>"),
        Values({}, "12345.00", "<p>Items: 40</p><p>Total: 12.345,00 EUR</p><p>Paid: 0,00 EUR</p>"),
        Values({}, "80.5", "<p>Items: 2</p><p>Total: 80.5 EUR</p><p>Paid: 0,00 EUR</p>", "a point in an unknown sense"),
        Values({}, None, "<p>Items: 0</p><p>Total: - EUR</p><p>Paid: 0,00 EUR</p>", "there is no total"),
    ),
)

# Calc and Writer


def _added(values: Values) -> Sequence[Part]:
    first, second = values.said["first"], values.said["second"]
    typed = _Type(f"{first}\n{second}\n=A1+A2\n")
    return (
        (f"Enter {first} and {second} in A1 and A2 of the sheet, and their sum in A3", (typed,)),
        ("Write the sum into the note and save it", _note(values.result or "")),
    )


def _pair(first: str, second: str, result: str, hard: str = "") -> Values:
    return Values({"first": first, "second": second}, result, hard=hard)


CELLS = LearnedTask(
    "sum from a cell",
    "In the sheet, enter '{first}' and '{second}' in A1 and A2 and add A1 to A2 in A3; write the sum into the note and "
    "save it.",
    ("note", "calc"),
    _added,
    _pair("12", "30", "42"),
    (
        _pair("250", "375", "625"),
        _pair("42", "8", "50", "the learned sum is a value now"),
        _pair("7", "0", "7", "the sum equals a value"),
        _pair("40", "2", "42", "the sum of the first run, again"),
        _pair("15", "-40", "-25", "a negative number"),
    ),
)
ENTERED = LearnedTask(
    "code from a page into a cell",
    "Copy the code of the order on the page into cell A1 of the sheet.",
    ("calc", "page"),
    lambda values: (("Enter the code in the sheet", (_to("calc"), _Type(f"{values.result}\n"))),),
    Values({}, "8123", _order("8123")),
    (
        Values({}, "5507", _order("5507")),
        Values({}, "66120", _order("66120", "8123"), "the old code is still on the page"),
        Values({}, None, _order("not ready"), "there are words in its place"),
    ),
    place=SHEET,
)
LETTERS = LearnedTask(
    "reference from a page into a letter",
    "Type 'Dear {name}, your booking reference is' and the booking reference of the ticket into the document.",
    ("writer", "page"),
    lambda values: (
        (
            "Type the line into the document",
            (
                _to("writer"),
                _Type(f"Dear {values.said['name']}, your booking reference is {values.result}"),
            ),
        ),
    ),
    Values({"name": "Ada"}, "KL-4471-B", _ticket("KL-4471-B")),
    (
        Values({"name": "Grace"}, "ZT-9080-Q", _ticket("ZT-9080-Q")),
        Values({"name": "Ada"}, "AB-1002-C", _ticket("AB-1002-C")),
        Values({"name": "Niels"}, None, _ticket("pending"), "it is not there yet"),
    ),
    place=DOCUMENT,
)
LINES = LearnedTask(
    "line in a letter",
    "Type '{line}' into the document.",
    ("writer",),
    lambda values: (("Type the line into the document", (_Type(values.said["line"]),)),),
    Values({"line": "Meet me at 10"}, "Meet me at 10"),
    (
        Values({"line": "Bring 3 pens and 12 cards"}, "Bring 3 pens and 12 cards"),
        Values({"line": "The ink costs 4.50"}, "The ink costs 4.50"),
    ),
    place=DOCUMENT,
    derived=False,
)

# Values that the wording says

TEXTS = LearnedTask(
    "text in a note",
    "Type '{text}' into the note and save it.",
    ("note",),
    lambda values: (("Type the text and save it", _note(values.said["text"])[1:]),),
    Values({"text": "apples and 8 pears"}, "apples and 8 pears"),
    (
        Values({"text": "nuts"}, "nuts"),
        Values({"text": "2026-12-24 at 18:30"}, "2026-12-24 at 18:30"),
        Values({"text": "apples and 9 pears"}, "apples and 9 pears"),
        Values({"text": "8"}, "8", hard="a part of the learned text"),
        Values({"text": "1,5 of 2.5"}, "1,5 of 2.5"),
    ),
    derived=False,
)
_FORM = _page(
    '<h1>Visit</h1><form action="sent.html" method="post"><p><label>Name <input name=name></label></p>',
    '<p><label>Seats <input name=seats></label></p><p><button type="submit">Book</button></p></form>',
)


def _visit(name: str, seats: str, hard: str = "") -> Values:
    return Values({"name": name, "seats": seats}, f"{name}, {seats}", _FORM, hard)


FORMS = LearnedTask(
    "form on a page",
    "On the page, type '{name}' into Name and '{seats}' into Seats, and click Book.",
    ("page",),
    lambda values: (
        (
            "Fill in the form and book",
            (
                _Type(values.said["name"], "entry", "Name"),
                _Type(values.said["seats"], "entry", "Seats"),
                _click("push button", "Book"),
            ),
        ),
    ),
    _visit("Ada Lovelace", "2"),
    (
        _visit("Grace Hopper", "3"),
        _visit("Alan Turing", "12"),
        _visit("3", "7", "a number as a name"),
        _visit("Emmy Noether", "2", "one value stays"),
        _visit("Rosa Parks", "1"),
    ),
    place=SENT,
    derived=False,
)

TASKS = (
    *(SUMS, COINCIDENCE, CODES, TICKETS, PRICES, NUMBERS, COUNTS, UNSTATED, DAYS, TOTALS),
    *(CELLS, ENTERED, LETTERS, LINES, TEXTS, FORMS),
)

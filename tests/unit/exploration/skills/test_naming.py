"""Names of unit skills."""

from __future__ import annotations

import pytest

from aci.acting.actions import Click
from aci.observation.identity import ElementDescription
from agent_s.records import Change, ElementState, GroundedStep
from exploration.search.records import Attempt, Control, Offer
from exploration.skills.naming import Naming, name_unit, plain
from intents.intent import Switch
from intents.matching import unify
from intents.reader import read


def step(role: str, name: str, path: tuple[str, ...] = (), description: str = "") -> GroundedStep:
    target = ElementDescription(role=role, name=name, path=path, description=description)
    return GroundedStep(action=Click(element_id=1), targets={"element_id": target})


def attempt(*steps: GroundedStep, effect: tuple[Change, ...] = (), role: str = "", name: str = "") -> Attempt:
    last = next(iter(steps[-1].targets.values()))
    control = Control(role=role or last.role, name=name or last.name, key="k")
    return Attempt(key="k", control=control, start="", path=steps, classification="terminal", effect=effect)


def setting(key: str, after: str) -> tuple[Change, ...]:
    return (Change(kind="setting", what=f"org/app/{key}", after=after),)


CHECKED = ElementState(states=("checked",))
VIEW = step("menu", "View", ("menu bar:",))
IN_VIEW = ("frame:x", "menu bar:", "menu:View")


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (attempt(VIEW, step("menu item", "Line Numbers", IN_VIEW), effect=setting("show-line-numbers", "true")),
         "turn on line numbers"),
        (attempt(VIEW, step("menu item", "Toolbar", IN_VIEW), effect=setting("toolbar-visible", "true")),
         "show toolbar"),
        (attempt(VIEW, step("menu item", "Menubar", IN_VIEW), effect=setting("menubar-visible", "false")),
         "hide menubar"),
        (attempt(step("check box", "Show line numbers"), effect=setting("show-line-numbers", "true")),
         "show line numbers"),
        (attempt(step("check box", "Show line numbers"), effect=setting("show-line-numbers", "false")),
         "hide line numbers"),
        (attempt(step("check box", "Use system font"), effect=setting("use-system-font", "false")),
         "turn off system font"),
        (attempt(step("menu item", "Preferences..."), effect=(Change(kind="opened", what="Preferences"),)),
         "open preferences"),
        (attempt(step("menu item", "Side-Pane"),
                 effect=(Change(kind="appeared", what="list item x"), Change(kind="vanished", what="page tab x"))),
         "show side-pane"),
        (attempt(step("menu item", "Wrap Lines"),
                 effect=(Change(kind="state", what="menu item Wrap Lines", after="checked"),)), "turn on wrap lines"),
        (attempt(step("menu item", "Open..."), effect=(Change(kind="opened", what="Open File"),)), "open file"),
        (attempt(step("menu item", "Coloring Rules..."), effect=(Change(kind="opened", what="Coloring Rules"),)),
         "open coloring rules"),
        (attempt(step("menu item", "Import..."), effect=(Change(kind="opened", what="Select contact file"),)),
         "import contact file"),
        (attempt(step("menu", "Mode"), step("radio menu item", "Advanced Mode"), effect=setting("mode", "'advanced'")),
         "switch to advanced mode"),
        (attempt(VIEW, step("menu", "Tab Size", IN_VIEW),
                 step("radio menu item", "4", (*IN_VIEW, "menu:Tab Size")), effect=setting("tab-width", "4")),
         "set tab size to 4"),
        (attempt(step("push button", "Enlarge Text"), effect=setting("font-scale", "1.1")), "enlarge text"),
        (attempt(step("menu", "Edit"), step("menu", "Convert", ("menu bar:", "menu:Edit")),
                 step("menu item", "To Uppercase", ("menu bar:", "menu:Edit", "menu:Convert")),
                 effect=(Change(kind="text", what="text", after="A"),)),
         "convert to uppercase"),
        (attempt(step("page tab", "Fonts"), effect=(Change(kind="state", what="page tab Fonts", after="selected"),)),
         "open fonts"),
        (attempt(VIEW, step("check menu item", "Toggle Ruler Marks", IN_VIEW),
                 effect=(Change(kind="state", what="check menu item Toggle Ruler Marks", after="checked"),)),
         "turn on ruler marks"),
        (attempt(step("menu item", "Options..."), step("page tab", "Image"),
                 effect=(Change(kind="state", what="page tab Image", after="selected"),)), "open image tab"),
        (attempt(step("menu item", "Delete Line"), effect=(Change(kind="text", what="text"),)), "delete line"),
        (attempt(step("check menu item", "Bold"),
                 effect=(Change(kind="state", what="check menu item Bold", after="not checked"),)),
         "turn off bold"),
        (attempt(VIEW, step("check menu item", "Menubar", IN_VIEW).model_copy(update={"state_before": CHECKED}),
                 effect=(Change(kind="appeared", what="push button Menu"),)), "hide menubar"),
        (attempt(VIEW, step("menu item", "Hide Slide", IN_VIEW), effect=(Change(kind="picture", what="x"),)),
         "hide slide"),
        (attempt(*(step("menu item", name) for name in ("Settings", "Number Format", "Hexadecimal"))),
         "number format hexadecimal"),  # menus of Qt
        (attempt(step("combo box", "All", description="Select a category"), step("list item", "African Scripts")),
         "set category to african scripts"),
    ],
)  # fmt: skip
def test_unit_skills_have_plain_names(made: Attempt, name: str) -> None:
    assert name_unit(made, "Editor").name == name


def test_description_says_what_a_skill_does_and_where_it_is_found() -> None:
    shown = step("menu item", "Line Numbers", IN_VIEW, "Display numbers of lines")
    naming = name_unit(attempt(VIEW, shown, effect=setting("number-lines", "true")), "Editor")
    assert naming.intent == Switch(object="line numbers", state="on")
    assert naming.description == "Display numbers of lines, by View > Line Numbers in Editor."
    assert naming.aliases == ("turn on number lines", "Display numbers of lines")
    assert naming.preconditions == ("Editor is in front", "Line Numbers is off")


def test_tooltip_that_contradicts_the_effect_is_not_an_alias() -> None:
    numbers = step("menu item", "Line Numbers", IN_VIEW, "Show line numbers")
    off = name_unit(attempt(VIEW, numbers, effect=setting("number-lines", "false")), "Editor")
    assert off.description == "Turn off line numbers, by View > Line Numbers in Editor."
    assert not any("show" in alias for alias in off.aliases)
    wrap = step("menu item", "Wrap", IN_VIEW, "Toggle breaking of lines")
    on = name_unit(attempt(VIEW, wrap, effect=setting("wrap", "true")), "Editor")
    assert on.description == "Turn on wrap, by View > Wrap in Editor."
    assert "turn on breaking of lines" in on.aliases


@pytest.mark.parametrize(
    ("made", "other"),
    [
        (attempt(step("push button", "π"), effect=(Change(kind="text", what="text", after="π"),)), "enter pi"),
        (attempt(step("push button", "÷"), effect=(Change(kind="text", what="text", before="1", after="1÷"),)),
         "enter division sign"),
        (attempt(step("menu", "Insert"), step("menu item", "Hyperlink...", ("menu bar:", "menu:Insert")),
                 effect=(Change(kind="opened", what="Hyperlink"),)), "insert hyperlink"),
        (attempt(step("push button", "Open Menu"), step("menu item", "Create New"), step("menu item", "Folder..."),
                 effect=(Change(kind="opened", what="App"),)), "create new folder"),
        (attempt(step("menu", "Generate"), step("menu item", "Tone..."),
                 effect=(Change(kind="opened", what="Tone"),)), "generate tone"),
        (attempt(step("menu item", "Save As..."), effect=(Change(kind="opened", what="Save"),)), "save copy"),
        (attempt(step("menu item", "Save Project As..."), effect=(Change(kind="opened", what="Save"),)), "save copy"),
        (attempt(step("menu item", "Hide Grid"), effect=setting("hide-grid", "true")), "turn off grid"),
        (attempt(step("menu item", "Stretch / Shear..."), effect=(Change(kind="opened", what="Form"),)), "shear"),
        (attempt(step("push button", "Add-ons and Themes"), effect=(Change(kind="opened", what="Extras"),)),
         "open add-ons"),
        (attempt(step("push button", "Hide panel"), effect=setting("panel-visible", "false")), "hide panel"),
        (attempt(step("radio button", "Radians", ("dialog:Preferences", "panel:Angle units")),
                 effect=setting("angles", "'radians'")), "set angles to radians"),
    ],
)  # fmt: skip
def test_aliases_come_from_signs_windows_menus_and_settings(made: Attempt, other: str) -> None:
    naming = name_unit(made, "App")
    assert other in (naming.name, *naming.aliases)


def test_menus_that_are_no_verbs_and_controls_in_dialogs_are_not_named_after_their_menu() -> None:
    opened = (Change(kind="opened", what="Colors"),)
    item = "menu item"
    for menu, entry in (("Tools", item), ("Edit", item), ("Recording", item), ("Sort", "check box")):
        naming = name_unit(attempt(step("menu", menu), step(entry, "Colors"), effect=opened), "App")
        assert not any(menu.lower() in name for name in (naming.name, *naming.aliases))


@pytest.mark.parametrize("asked", ["open settings", "open preferences", "open options"])
@pytest.mark.parametrize("item", ["Preferences", "Configure Calc...", "Global Options..."])
def test_settings_of_the_application_have_all_their_usual_names(item: str, asked: str) -> None:
    opened = (Change(kind="opened", what="Everything"),)
    naming = name_unit(attempt(step("menu item", item), effect=opened), "Calc")
    assert asked in (naming.name, *naming.aliases)
    longer = name_unit(attempt(step("menu item", item), effect=opened), "Calc Spreadsheet Editor")
    assert asked in (longer.name, *longer.aliases)
    keys = name_unit(attempt(step("menu item", "Configure Keyboard Shortcuts..."), effect=opened), "Calc")
    assert asked not in (keys.name, *keys.aliases)


@pytest.mark.parametrize(
    ("item", "app", "own"),
    [
        ("About Notes", "gnome-notes", True),
        ("About Toolkit", "gnome-notes", False),
        ("About Qt Creator...", "qtcreator", True),
        ("About Plugins...", "qtcreator", False),
    ],
)
def test_what_tells_about_the_application_is_found_without_its_name(item: str, app: str, own: bool) -> None:
    naming = name_unit(attempt(step("menu item", item), effect=(Change(kind="opened", what=item),)), app)
    assert ("open about" in naming.aliases) is own


def test_what_the_main_window_calls_the_application_is_its_name_too() -> None:
    shown = step("menu item", "Configure Globe Virtual Earth...")
    target = shown.targets["element_id"].model_copy(update={"window": "Oslo — Globe Virtual Earth"})
    made = attempt(shown.model_copy(update={"targets": {"element_id": target}}))
    made = made.model_copy(update={"effect": (Change(kind="opened", what="Setup"),)})
    assert "open settings" in name_unit(made, "globe").aliases
    assert "open settings" in name_unit(made, "gve2").aliases  # the last part of a title is no document
    named_first = target.model_copy(update={"window": "Globe Virtual Earth — Oslo"})
    shown = shown.model_copy(update={"targets": {"element_id": named_first}})
    assert "open settings" not in name_unit(made.model_copy(update={"path": (shown,)}), "moon").aliases


def test_what_says_little_in_a_dialog_is_named_with_the_dialog() -> None:
    def click(name: str, window: str) -> GroundedStep:
        target = ElementDescription(role="push button", name=name, window=window)
        return GroundedStep(action=Click(element_id=1), targets={"element_id": target})

    opened = (Change(kind="opened", what="More"),)
    for item, name in (
        ("Options", "open file renamer options"),
        ("Open file dialog", "open file renamer file dialog"),
        ("Colors", "open colors"),
    ):
        made = attempt(click("File Renamer...", "Player"), click(item, "File Renamer"), effect=opened)
        named = name_unit(made, "Player")
        assert named.name == name
        assert not {"open settings", "open options"} & {named.name, *named.aliases}


def test_a_name_of_one_word_may_be_a_thing_in_the_application() -> None:
    target = ElementDescription(role="menu item", name="New Calendar...", window="Calendar")
    pressed = GroundedStep(action=Click(element_id=1), targets={"element_id": target})
    naming = name_unit(attempt(pressed, effect=(Change(kind="opened", what="New Calendar"),)), "gnome-calendar")
    assert naming.name == "new calendar"


def test_a_file_that_a_dialog_asks_for_is_not_what_opening_a_file_means() -> None:
    opened = (Change(kind="opened", what="Select a file..."),)
    for windows, said in ((("Calendar", "Calendar"), True), (("Calendar", "Preferences"), False)):
        steps = []
        for name, window in zip(("Preferences", "Open"), windows, strict=True):
            target = ElementDescription(role="push button", name=name, window=window)
            steps.append(GroundedStep(action=Click(element_id=1), targets={"element_id": target}))
        named = name_unit(attempt(*steps, effect=opened), "Calendar")
        assert bool({"open a file", "open file"} & {named.name, *named.aliases}) is said


def test_the_name_of_the_application_tells_what_is_opened_from_a_file() -> None:
    opened = (Change(kind="opened", what="More"),)
    naming = name_unit(attempt(step("menu item", "Open Terminal"), effect=opened), "Xfce4-terminal")
    assert "open file" not in naming.aliases


def test_keys_behind_a_tooltip_are_no_part_of_it() -> None:
    pressed = step("push button", "New")
    target = pressed.targets["element_id"].model_copy(update={"description": "New File Ctrl + N"})
    made = attempt(pressed.model_copy(update={"targets": {"element_id": target}}))
    assert "New File" in name_unit(made, "Minder").aliases


def test_what_changes_the_shortcuts_shows_them() -> None:
    opened = (Change(kind="opened", what="Keys"),)
    naming = name_unit(attempt(step("menu item", "Customize Key Bindings..."), effect=opened), "Editor")
    assert "open keyboard shortcuts" in naming.aliases


def test_the_name_of_the_application_may_end_the_name_in_its_title() -> None:
    for item, own in (("About Qt Linguist", True), ("About Qt", False)):
        target = ElementDescription(role="menu item", name=item, window="Qt Linguist")
        pressed = GroundedStep(action=Click(element_id=1), targets={"element_id": target})
        naming = name_unit(attempt(pressed, effect=(Change(kind="opened", what=item),)), "linguist")
        assert ("open about" in (naming.name, *naming.aliases)) is own
        assert naming.name == ("open about" if own else "open about qt")


def test_a_window_that_is_titled_like_the_application_names_nothing() -> None:
    opened = (Change(kind="opened", what="gnome-notes"),)
    naming = name_unit(attempt(step("menu item", "Catalogs"), effect=opened), "Gnome Notes")
    assert (naming.name, naming.aliases) == ("open catalogs", ())


def test_a_window_that_is_titled_like_the_one_that_it_opens_from_names_nothing() -> None:
    target = ElementDescription(role="menu item", name="Keyboard Shortcuts", window="Videos")
    pressed = GroundedStep(action=Click(element_id=1), targets={"element_id": target})
    naming = name_unit(attempt(pressed, effect=(Change(kind="opened", what="Videos"),)), "Totem")
    assert (naming.name, naming.aliases) == ("open keyboard shortcuts", ())


def test_a_tab_of_a_dialog_is_only_switched_to_as_a_tab() -> None:
    chosen = (Change(kind="state", what="page tab Fullscreen", after="selected"),)
    naming = name_unit(attempt(step("menu item", "Preferences"), step("page tab", "Fullscreen"), effect=chosen), "App")
    assert {naming.name, *naming.aliases} == {"open fullscreen tab", "switch to fullscreen tab"}
    assert name_unit(attempt(step("push button", "Fullscreen")), "App").name == "switch to fullscreen"


def test_dots_and_shortcuts_are_left_out_of_names() -> None:
    assert plain("Save As...") == "Save As"
    assert plain("Properties (Ctrl+Alt+1)") == "Properties"
    assert plain("Zoom [Ctrl+Z]") == "Zoom"
    assert plain("Tab width:") == "Tab width"


def test_verb_alone_is_about_the_tab_or_menu_that_it_is_in() -> None:
    started = attempt(
        step("page tab", "Stopwatch"), step("push button", "Start"), effect=(Change(kind="text", what="x"),)
    )
    assert "start stopwatch" in name_unit(started, "Clocks").aliases
    exported = attempt(step("menu item", "Session"), step("menu item", "Export"))
    assert "export session" in name_unit(exported, "Calculator").aliases
    key = attempt(step("menu item", "Science Mode"), step("push button", "Log"))  # a button that the mode has shown
    assert "log science mode" not in name_unit(key, "Calculator").aliases
    filtered = attempt(
        step("menu", "Options"), step("menu item", "Filter..."), effect=(Change(kind="opened", what="Filter"),)
    )
    assert "filter options" not in name_unit(filtered, "Renamer").aliases


def test_label_that_hides_something_does_not_match_what_is_done_to_it() -> None:
    hides = name_unit(attempt(step("menu item", "Hide Slide")), "Slides").intent
    assert unify(read("set up the slide show"), hides) is None
    assert unify(read("hide the slide"), hides) is not None


def test_settings_that_are_shown_in_the_same_window_are_called_settings() -> None:
    made = attempt(step("menu item", "Configure Editor..."), effect=(Change(kind="appeared", what="check box Wrap"),))
    offer = Offer(control=Control(role="check box", name="Wrap", key="check box:Wrap"), step=made.path[-1])
    assert "open settings" in name_unit(made.model_copy(update={"offers": (offer,)}), "editor").aliases
    assert "open settings" not in name_unit(made, "editor").aliases  # nothing was shown


def test_what_stays_pressed_while_it_shows_controls_is_opened_as_well() -> None:
    def named(item: str, after: str) -> Naming:
        made = attempt(step("menu item", item), effect=(Change(kind="state", what=f"menu item {item}", after=after),))
        offer = Offer(control=Control(role="check box", name="Wrap", key="check box:Wrap"), step=made.path[-1])
        return name_unit(made.model_copy(update={"offers": (offer,)}), "editor")

    generator = named("Password Generator", "checked")
    assert (generator.name, generator.aliases) == ("turn on password generator", ("open password generator",))
    assert named("Password Generator", "not checked").aliases == ()
    assert "open preferences" in named("Settings", "checked").aliases
    assert named("Settings", "not checked").aliases == ()
    asked, others = read("open the settings"), [read(each) for each in named("Settings", "checked").aliases]
    assert unify(asked, named("Settings", "checked").intent, others) is not None
    assert unify(asked, named("Settings", "not checked").intent, others) is None


def test_a_button_that_takes_the_place_of_another_is_switched_on() -> None:
    effect = (
        Change(kind="state", what="check box View", before="checked", after="not checked"),
        Change(kind="state", what="check box Browse", before="not checked", after="checked"),
    )
    assert name_unit(attempt(step("check box", "Browse"), effect=effect), "viewer").name == "turn on browse"


def test_what_opens_a_file_is_called_so_whatever_its_window_is_called() -> None:
    for title in ("Open...", "Open Image"):
        opened = (Change(kind="opened", what=title),)
        assert "open file" in name_unit(attempt(step("menu item", "Open..."), effect=opened), "viewer").aliases
    assert "open file" not in name_unit(attempt(step("menu item", "Open")), "viewer").aliases  # nothing opened


def test_a_verb_alone_that_asks_for_a_file_is_done_to_one() -> None:
    opened = (Change(kind="opened", what="Import…"),)
    naming = name_unit(attempt(step("menu item", "Import…"), effect=opened), "viewer")
    assert (naming.name, naming.aliases) == ("open import dialog", ("import file",))

"""Which application a phrase means, and what is added when it is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aci.applications.catalog import Application, Catalog, installed_applications, prepare, toolkit_environment
from aci.errors import LaunchFailed

MOUSEPAD = Application("org.xfce.mousepad", "Mousepad", ("mousepad",), "Text Editor", (), ("Utility", "TextEditor"))
GEDIT = Application("org.gnome.TextEditor", "Text Editor", ("gnome-text-editor",), "", ("notepad",), ("TextEditor",))
VIM = Application(
    "vim", "Vim", ("xterm", "-e", "vim"), "Text Editor", ("editor",), ("Utility", "TextEditor"), in_terminal=True
)
CALC = Application(
    "libreoffice-calc", "LibreOffice Calc", ("libreoffice", "--calc"), "Spreadsheet", (), ("Spreadsheet",)
)
START = Application("libreoffice-startcenter", "LibreOffice", ("libreoffice",), "Office", (), ("Office",))
CHROMIUM = Application("chromium", "Chromium Web Browser", ("/usr/bin/chromium",), "Web Browser", (), ("WebBrowser",))
THUNAR = Application(
    "thunar", "Thunar File Manager", ("thunar",), "File Manager", ("browser", "folders"), ("FileManager",)
)
XTERM = Application("debian-xterm", "XTerm", ("xterm",), "", ("shell",), ("System", "TerminalEmulator"))
CALCULATOR = Application("org.gnome.Calculator", "Calculator", ("gnome-calculator",), "", (), ("Calculator",))
CATALOG = Catalog([VIM, GEDIT, MOUSEPAD, CALC, START, CHROMIUM, THUNAR, XTERM, CALCULATOR], search_path="/nowhere")


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("text editor", MOUSEPAD),
        ("Text Editor", GEDIT),
        ("the text editor app", MOUSEPAD),
        ("Notepad", MOUSEPAD),
        ("LibreOffice Calc", CALC),
        ("libreoffice", START),
        ("calc", CALC),
        ("spreadsheet", CALC),
        ("browser", CHROMIUM),
        ("web browser", CHROMIUM),
        ("chromium", CHROMIUM),
        ("Chromium browser", CHROMIUM),
        ("calculator", CALCULATOR),
        ("gnome-calculator", CALCULATOR),
        ("files", THUNAR),
        ("file manager", THUNAR),
        ("folders", THUNAR),
        ("terminal", XTERM),
        ("vim", VIM),
        ("mousepda", MOUSEPAD),
        ("org.gnome.TextEditor", GEDIT),
    ],
)
def test_a_phrase_finds_the_application_it_means(phrase: str, expected: Application) -> None:
    assert CATALOG.find(phrase) == expected


def test_order_of_the_catalog_does_not_matter() -> None:
    turned = Catalog(list(reversed(CATALOG.applications)), search_path="/nowhere")
    for phrase in ("text editor", "browser", "libreoffice", "editor"):
        assert turned.matches(phrase) == CATALOG.matches(phrase)


def test_a_name_as_menus_show_it_means_no_other_application_of_its_kind() -> None:
    assert CATALOG.matches("Text Editor") == [GEDIT]


def test_a_program_is_meant_as_it_starts_without_options() -> None:
    files = Application("thunar", "Thunar File Manager", ("thunar",))
    renaming = Application("thunar-bulk-rename", "Bulk Rename", ("thunar", "--bulk-rename"))
    assert Catalog([renaming, replace(files, id="files")], "").find("Thunar").name == "Thunar File Manager"
    assert Catalog([renaming], "").find("thunar") == renaming


def test_a_text_editor_in_a_terminal_comes_after_those_with_a_window() -> None:
    assert CATALOG.matches("text editor") == [MOUSEPAD, GEDIT, VIM]


def test_an_application_is_found_by_the_class_of_its_windows() -> None:
    mail = Application("thunderbird", "Thunderbird", ("thunderbird",), window_class="thunderbird-default")
    assert Catalog([mail, GEDIT], "").find("thunderbird-default", guess=False) == mail


def test_misspelled_name_can_be_refused_with_a_suggestion() -> None:
    with pytest.raises(LaunchFailed, match=r"'mousepda'. Did you mean Mousepad\?"):
        CATALOG.find("mousepda", guess=False)
    assert CATALOG.find("notepad", guess=False) == MOUSEPAD


def test_program_on_the_path_comes_before_a_guess(tmp_path: Path) -> None:
    (tmp_path / "mousepda").touch(mode=0o755)
    assert Catalog(CATALOG.applications, search_path=str(tmp_path)).find("mousepda").argv == ("mousepda",)


def test_unknown_application_suggests_similar_names() -> None:
    with pytest.raises(LaunchFailed, match=r"'Kalkulatron'.*Calculator"):
        CATALOG.find("Kalkulatron")


@pytest.mark.parametrize("phrase", ["", "the app", "!!!"])
def test_a_phrase_without_a_word_finds_nothing(phrase: str) -> None:
    with pytest.raises(LaunchFailed):
        CATALOG.find(phrase)


def write_entry(folder: Path, name: str, **fields: str) -> None:
    lines = ["[Desktop Entry]", "Type=Application", *(f"{key}={value}" for key, value in fields.items())]
    path = folder / "applications" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "bin" / "paint"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return {
        "XDG_DATA_HOME": str(tmp_path / "home"),
        "XDG_DATA_DIRS": str(tmp_path / "system"),
        "PATH": str(program.parent),
    }


def test_entries_are_read_with_their_exec_fields_resolved(tmp_path: Path, data: dict[str, str]) -> None:
    write_entry(
        tmp_path / "system", "paint.desktop", Name="Paint", Exec='paint --title "My art" 100%% %U', Keywords="draw;"
    )
    (found,) = installed_applications(data).applications
    assert (found.name, found.argv, found.keywords) == ("Paint", ("paint", "--title", "My art", "100%"), ("draw",))


def test_the_users_entry_replaces_the_systems(tmp_path: Path, data: dict[str, str]) -> None:
    write_entry(tmp_path / "system", "paint.desktop", Name="Paint", Exec="paint")
    write_entry(tmp_path / "home", "paint.desktop", Name="My Paint", Exec="paint --mine")
    assert [application.name for application in installed_applications(data).applications] == ["My Paint"]


def test_default_application_of_the_desktop_is_meant_first(tmp_path: Path, data: dict[str, str]) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        write_entry(tmp_path / "system", f"{name}.desktop", Name=name, Exec="paint", Categories="TextEditor;")
    environment = {**data, "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CONFIG_DIRS": str(tmp_path / "etc")}
    assert installed_applications(environment).find("text editor").name == "Alpha"

    listed = "[Default Applications]\ntext/plain={}\ntext/html=Alpha.desktop\n"
    (tmp_path / "system/applications/mimeapps.list").write_text(listed.format("Gamma.desktop;"), encoding="utf-8")
    assert installed_applications(environment).find("text editor").name == "Gamma"

    (tmp_path / "config").mkdir()
    (tmp_path / "config/mimeapps.list").write_text(listed.format("gone.desktop;Beta.desktop"), encoding="utf-8")
    found = installed_applications(environment)
    assert found.find("text editor").name == "Beta"
    assert found.find("alpha").name == "Alpha"


@pytest.mark.parametrize(
    "fields",
    [
        {"Exec": "paint", "NoDisplay": "true"},
        {"Exec": "paint", "Hidden": "true"},
        {"Exec": "not-installed"},
        {"Exec": 'paint "unclosed'},
        {},
    ],
)
def test_entries_that_menus_leave_out_are_left_out(
    tmp_path: Path, data: dict[str, str], fields: dict[str, str]
) -> None:
    write_entry(tmp_path / "system", "paint.desktop", Name="Paint", **fields)
    assert installed_applications(data).applications == ()


def test_a_program_without_an_entry_is_found_on_path(data: dict[str, str]) -> None:
    assert installed_applications(data).find("paint").argv == ("paint",)


def test_a_program_of_a_terminal_is_started_in_one(tmp_path: Path, data: dict[str, str]) -> None:
    write_entry(tmp_path / "system", "paint.desktop", Name="Paint", Exec="paint", Terminal="true")
    (found,) = installed_applications(data).applications
    assert (found.argv, found.program) == (("xterm", "-e", "paint"), "paint")


def test_a_browser_gets_a_profile_of_its_own_in_a_private_home(tmp_path: Path) -> None:
    prepared = prepare(["/usr/bin/chromium", "page.html"], tmp_path, root=False)
    assert prepared.argv[0] == "/usr/bin/chromium"
    assert prepared.argv[-1] == "page.html"
    assert "--force-renderer-accessibility" in prepared.argv
    assert any(argument.startswith(f"--user-data-dir={tmp_path}") for argument in prepared.argv)
    assert "--no-sandbox" not in prepared.argv
    assert prepared.environment == {"ACCESSIBILITY_ENABLED": "1"}


def test_the_sandbox_is_dropped_for_root_alone(tmp_path: Path) -> None:
    assert "--no-sandbox" in prepare(["chromium"], tmp_path, root=True).argv


def test_the_users_own_browser_keeps_its_profile() -> None:
    assert not any("user-data-dir" in argument for argument in prepare(["chromium"], None, root=False).argv)


def test_options_of_the_caller_are_not_repeated(tmp_path: Path) -> None:
    argv = prepare(["chromium", "--user-data-dir=/mine"], tmp_path, root=False).argv
    assert [argument for argument in argv if "user-data-dir" in argument] == ["--user-data-dir=/mine"]


def test_an_office_profile_is_prepared_once(tmp_path: Path) -> None:
    assert "--norestore" in prepare(["soffice", "--calc"], tmp_path, root=False).argv
    (settings,) = tmp_path.rglob("registrymodifications.xcu")
    settings.write_text("changed by the user", encoding="utf-8")
    prepare(["libreoffice"], tmp_path, root=False)
    assert settings.read_text(encoding="utf-8") == "changed by the user"


def test_other_programs_stay_as_they_are(tmp_path: Path) -> None:
    assert prepare(["mousepad", "a.txt"], tmp_path, root=True) == prepare(["mousepad", "a.txt"], None, root=False)


@pytest.mark.skipif(not Path("/usr/lib/jvm").exists(), reason="Java is not installed: make setup-toolkits")
def test_java_keeps_to_a_private_home(tmp_path: Path) -> None:
    options = f'"-Duser.home={tmp_path}"'

    assert options in toolkit_environment(tmp_path)["JDK_JAVA_OPTIONS"]
    assert "user.home" not in toolkit_environment().get("JDK_JAVA_OPTIONS", "")


def test_windows_go_by_names_without_a_version() -> None:
    assert Application("gimp", "GIMP", ("/usr/bin/gimp-2.10",)).window_names == {"gimp"}
    globe = Application("marble", "Marble", ("marble",), generic_name="Virtual Globe")
    assert globe.window_names == {"marble", "marble virtual globe"}


@pytest.mark.parametrize("user", [0, 1000])
def test_browsers_of_qt_have_no_sandbox_for_root_only(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aci.applications.catalog.glob", lambda needed: [needed])  # as if all toolkits were installed
    monkeypatch.setattr("os.geteuid", lambda: user)
    assert ("QTWEBENGINE_DISABLE_SANDBOX" in toolkit_environment()) == (user == 0)

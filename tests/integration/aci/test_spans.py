"""Words of real applications are selected, replaced and read, also behind characters that are two units of UTF-16."""

from __future__ import annotations

import shutil

import pytest

from aci.acting.actions import Hotkey, Read, SelectText, Type, Zoom
from aci.acting.targets import Words
from aci.desktop.virtual import VirtualDesktop
from aci.input.clipboard import Clipboard
from benchmarks.support.pointing import EDITORS, STORY, TEXTS, element_with, show_story
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import until, wait_until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.mark.parametrize("toolkit", TEXTS)
def test_words_behind_an_emoji_are_selected_and_read(toolkit: str) -> None:
    program = EDITORS.get(toolkit, (str(SYSTEM_PYTHON) if toolkit == "Qt 6" else "chromium",))[0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        show_story(desktop, toolkit)
        found = element_with(desktop, "lazy dog")
        assert found is not None
        result = desktop.perform(SelectText(element_id=found.id, text="lazy dog"))
        assert (result.error, result.selected) == (None, "lazy dog")
        seen = desktop.observe().by_id[found.id]
        if seen.selection is not None:  # where the toolkit reports it for the element itself
            assert (seen.text or "")[slice(*seen.selection)] == "lazy dog"
            assert seen.caret == seen.selection[1]
        desktop.perform(Hotkey(keys=("ctrl", "c")))
        clipboard = Clipboard(desktop.display)
        try:
            wait_until(lambda: clipboard.content().text == "lazy dog")
        finally:
            clipboard.close()

        if "page" not in toolkit:
            words = Words(text="lazy dog")
            typed = desktop.perform(Type(text="old \U0001f98a", element_id=found.id, overwrite=True, at=words))
            assert typed.ok, typed.error
            until(desktop, lambda now: "over the old \U0001f98a." in (now.by_id[found.id].text or ""))

        read = desktop.perform(Read())
        assert all(line.rpartition(" ")[0] in read.text for line in STORY[1:]), read
        assert read.page == (1, 1)
        close = desktop.perform(Zoom(element_id=found.id))
        assert close.picture is not None
        assert close.area == desktop.observe().by_id[found.id].rect

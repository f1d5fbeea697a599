"""What a person is shown before a risky action."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from aci.acting.actions import Click, DragAndDrop, Hotkey
from agent_s.safety.confirmation import MARGIN, RED, consent_for
from tests.unit.agent_s.fakes import EDITOR, button, screen

DELETE, BIN = button(1, "Delete"), button(9, "Bin", role="icon")
SCREEN = screen(DELETE, BIN)


def test_a_confirmation_names_action_window_and_reason() -> None:
    consent = consent_for(Click(element_id=1), SCREEN, "'Delete' cannot be undone")
    assert str(consent) == ("click push button \"Delete\", in the window 'Editor': 'Delete' cannot be undone")


def test_the_picture_frames_the_target_with_a_margin() -> None:
    picture = consent_for(Click(element_id=1), SCREEN, "risky").picture
    rect = DELETE.rect
    assert picture.shape == (rect.bottom + MARGIN, rect.right + MARGIN, 3)
    assert tuple(picture[rect.y, rect.x]) == tuple(picture[rect.bottom - 1, rect.right - 1]) == RED
    assert not picture[rect.center.y, rect.center.x].any(), "what is touched itself stays as it is"
    assert not SCREEN.screenshot.any(), "the observation is left as it is"


def test_the_picture_shows_both_ends_of_a_drag() -> None:
    picture = consent_for(DragAndDrop(drag_from_id=1, drop_on_id=9), SCREEN, "risky").picture
    for rect in (DELETE.rect, BIN.rect):
        assert tuple(picture[rect.y, rect.x]) == RED


def test_keys_go_to_the_window_that_has_the_keyboard() -> None:
    consent = consent_for(Hotkey(keys=("ctrl", "q")), SCREEN, "unsaved changes")
    assert consent.window == EDITOR.title
    assert consent.picture.shape == SCREEN.screenshot.shape


def test_targets_off_the_screen_or_missing_are_not_errors() -> None:
    gone = consent_for(Click(element_id=77), screen(windows=()), "every action is to be confirmed")
    assert (gone.target, gone.window, gone.picture.shape) == ("", "", SCREEN.screenshot.shape)


def test_the_picture_is_a_file_for_any_viewer() -> None:
    consent = consent_for(Click(element_id=1), SCREEN, "risky")
    with Image.open(io.BytesIO(consent.as_png())) as image:
        assert image.format == "PNG"
        assert np.array_equal(np.asarray(image), consent.picture)

"""Sentences that ask for the same, for opposites, or for something else."""

from __future__ import annotations

import pytest

from intents.conflicts import compare, conflict, with_values_of


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("How to turn off line numbers", "How to show line numbers"),
        ("Switch line wrapping off", "How to enable word wrap"),
        ("Delete the footnote", "How to insert a footnote"),
        ("How to align objects to the right", "How to align objects to the left"),
        ("How to unpin a tab", "How to pin a tab"),
        ("How to convert miles to kilometers", "How to convert kilometers to miles"),
        ("Stop showing hidden files", "How to show hidden files"),
        ("How to go to the previous month", "How to go to the next month"),
        ("How to zoom out of a page", "How to zoom in on a page"),
        ("How to clear the status", "How to set a status"),
        ("How to turn off auto save", "How to turn on auto save"),
        ("Take the letter out of the archive", "Put the letter into the archive"),
        ("Translate the page from English to German", "Translate the page from German to English"),
        ("Tag the photo", "Remove the tag from the photo"),
        ("Keep the window no longer always on top", "Keep the window always on top"),
        ("Do not export the letter", "Export the letter"),
        ("Shrink the title", "Enlarge the title"),
        ("Make it quieter", "Amplify it"),
        ("Convert an EPUB book to MOBI", "Convert a MOBI book to EPUB"),
        ("Take away the indent of the first line", "Indent the first line"),
        ("Turn off word wrap", "Wrap long lines"),
        ("Leave the meeting", "Join the meeting"),
    ],
)
def test_opposites_conflict(query: str, key: str) -> None:
    assert conflict(query, key)
    assert not conflict(key, key)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("Make column C invisible", "How to hide column C"),
        ("Column C should not be shown any more", "How to hide column C"),
        ("Remember the page with a bookmark", "How to add a bookmark"),
        ("Display files that are hidden", "How to show hidden files"),
        ("Get rid of the red eyes", "How to remove red eyes"),
        ("Restore the most recently closed tab", "How to reopen the last closed tab"),
        ("Get back the tab I just closed", "How to reopen the last closed tab"),
        ("Alter the tempo without changing the pitch", "How to change the tempo of a track"),
        ("Stop a website from opening windows", "How to block windows of a website"),
        ("View the files in rows instead of icons", "Show files as a list"),
        ("Stop getting alerts of the channel", "Mute the notifications of a channel"),
        ("Stop the recording", "Stop recording"),
    ],
)
def test_paraphrases_do_not_conflict(query: str, key: str) -> None:
    assert conflict(query, key) is None


def test_verbs_are_compared_by_what_they_ask_for() -> None:
    assert compare("Duplicate the slide", "How to copy a slide").verbs == "same"
    assert compare("Rename the slide", "How to copy a slide").verbs == "other"
    assert compare("Rename the slide", "How to arrange the layout of a slide").verbs == "other"
    assert compare("Rename the slide", "How to have another layout of a slide").verbs == "unclear"
    assert compare("Give the slide a layout", "How to copy a slide").verbs == "unknown"
    # "copy" is a noun here.
    assert compare("Make a copy of the slide", "How to copy a slide").verbs == "unknown"


def test_things_are_compared_by_what_they_are() -> None:
    alike = compare("Make a folder for photos", "Create a directory for pictures")
    assert (alike.key_covered, alike.query_covered) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        # Another verb for the very same things, whatever the verb.
        ("Rename the mail folder", "How to create a mail folder"),
        ("Export the address book", "Add a contact to the address book"),
        # The same sentence but for a thing that is no value.
        ("Sort the list by date", "Sort the list by price"),
        ("Start a voice call", "Start a video call"),
        ("Click the Cancel button", "Click the Apply button"),
        # One takes away or ends, the other does not.
        ("Remove the watermark on every page", "Print the watermark in colour"),
        ("Turn off the automatic reply", "Set up an automatic reply for my vacation"),
    ],
)
def test_requests_for_something_else_are_detected(query: str, key: str) -> None:
    assert compare(query, key).otherwise
    assert not compare(key, key).otherwise


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("Set the font size to 14", "Set the font size to 12"),
        ("Rename the file to letter.txt", "Rename the file to report.txt"),
        ("Make a folder called Paris", "Make a folder called Rome"),
        ("Switch the firewall on", "Enable the firewall"),
        ("Move a chat to the archive", "Archive a conversation"),
        ("Erase the folder", "Delete the directory"),
    ],
)
def test_other_values_and_synonyms_ask_for_the_same(query: str, key: str) -> None:
    assert not compare(query, key).otherwise


@pytest.mark.parametrize(
    "wording",
    [
        "Could you please hide the toolbar",
        "I would like to hide the toolbar in GIMP",
        "GIMP: hide the toolbar",
        "gimp, hide the toolbar",
        "Verify that: hide the toolbar",
        "how do I hide the toolbar?",
    ],
)
def test_words_around_a_request_do_not_count(wording: str) -> None:
    assert compare(wording, "Conceal the toolbar").verbs == "same"
    assert conflict(wording, "Show the toolbar")
    assert not compare(wording, "Hide the toolbar").otherwise


@pytest.mark.parametrize(
    ("query", "key", "expected"),
    [
        ("make it 80 percent", "Zoom to 50 percent", "Zoom to 80 percent"),
        ("I'd like Draft across the page", "Add a watermark that says Secret", "Add a watermark that says Draft"),
        ("copy rows 2 to 5", "Copy rows 7 to 9", "Copy rows 2 to 5"),
        ("mail from Inbox to Archive", "Mail from Archive to Inbox", "Mail from Archive to Inbox"),
        ("set it to 5", "Turn on bold", "Turn on bold"),
    ],
)
def test_a_key_takes_the_values_that_only_the_query_has(query: str, key: str, expected: str) -> None:
    assert with_values_of(query, key) == expected

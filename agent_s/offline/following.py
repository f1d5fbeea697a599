"""What an intent must know of the one that follows it."""

from __future__ import annotations

from dataclasses import replace

from agent_s.offline.intents import (
    AnswerDialog,
    ClickOn,
    CloseThing,
    InPlace,
    Intent,
    OnlyIf,
    SaveFile,
    SelectOptions,
)
from agent_s.offline.targets import TargetQuery


def leave_questions(intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    """Tell each saving or closing what the next intent clicks: a question with that button is that one's to answer."""
    followers = (*intents[1:], None)
    return tuple(
        replace(intent, leave=_clicked(after)) if isinstance(intent, SaveFile | CloseThing) else intent
        for intent, after in zip(intents, followers, strict=True)
    )


def _clicked(intent: Intent | None) -> tuple[TargetQuery, ...]:
    match intent:
        case ClickOn(targets=queries) | SelectOptions(values=queries):
            return queries
        case InPlace(intent=inner) | OnlyIf(intent=inner):
            return _clicked(inner)
        case AnswerDialog(answer=answer):
            return (
                TargetQuery(
                    name={"accept": "OK", "yes": "Yes", "no": "No", "cancel": "Cancel", "close": "Close"}[answer]
                ),
            )
        case _:
            return ()

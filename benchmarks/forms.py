"""How many tokens a screen takes in each form of the setting `observation`.

```
python -m benchmarks.forms --json
```

Five applications, each on a screen of 1280 x 800, and all of them side by side on one of 1920 x 1080. The figures are
means over these screens of what the first message of a subtask shows of its screen. Text is counted in pieces of the
WordPiece vocabulary of MiniLM, pictures as Anthropic documents for its current models: one token for 28 x 28 px of the
picture as it is sent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, get_args

from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from agent_s.llm.conversation import Part, Picture, Text
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext
from agent_s.records import Subtask, Task
from agent_s.settings import ObservationForm
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.screens import FULL_HD, PROGRAMS, desktop_with_ocr, open_all, open_program
from memory_store.embedding.minilm import find_model

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FORMS: tuple[ObservationForm, ...] = get_args(ObservationForm)
SIZE = (1280, 800)
PATCH_PX = 28
MOST_LOOKS = 10


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    return command("forms", __doc__ or "", measure)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures = Figures([f"tokens_{form}" for form in FORMS])
    counts: dict[ObservationForm, list[int]] = {form: [] for form in FORMS}
    with figures.part(*figures.values()):
        for name, seen in _screens(bool(wanted.quick)):
            for form in FORMS:
                counts[form].append(sum(_tokens(part) for part in _shown(seen, form)))
            sizes = ", ".join(f"{form} {of[-1]}" for form, of in counts.items())
            tell(f"{name}: {len(seen.elements)} elements, {len(seen.candidates)} candidates; {sizes}")
        for form, of in counts.items():
            figures.set(f"tokens_{form}", round(sum(of) / len(of)))
    return figures


def _screens(quick: bool) -> Iterator[tuple[str, Observation]]:
    for name in list(PROGRAMS)[: 1 if quick else None]:
        with desktop_with_ocr(SIZE) as desktop:
            open_program(desktop, name)
            yield name, _read_to_the_end(desktop)
    if not quick:
        with desktop_with_ocr(FULL_HD) as desktop:
            open_all(desktop)
            yield "all", _read_to_the_end(desktop)


def _read_to_the_end(desktop: VirtualDesktop) -> Observation:
    """Look until all texts have been recognized."""
    for _ in range(MOST_LOOKS):
        seen = desktop.observe()
        if not seen.unread:
            break
    return seen


def _shown(seen: Observation, form: ObservationForm) -> tuple[Part, ...]:
    context = ActContext(Task(instruction="-"), Subtask(name="-"), seen)
    return Renderer(b"benchmark", form=form).render(context).messages[0].parts


def _tokens(part: Part) -> int:
    if isinstance(part, Picture):
        return ceil(part.width / PATCH_PX) * ceil(part.height / PATCH_PX)
    assert isinstance(part, Text)
    return len(_tokenizer().encode(part.text, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    folder = find_model()
    if folder is None:
        raise NotMeasured("the vocabulary of MiniLM is not installed")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


if __name__ == "__main__":
    sys.exit(main())

"""From the name of a model to the model."""

from __future__ import annotations

from pathlib import Path

from agent_s.errors import SettingsError
from agent_s.llm.protocol import Model


def build_model(name: str) -> Model:
    """Build the model with this name: `offline`, or `recorded:FILE`.

    Raises:
        SettingsError: There is no such model.
        ModelError: The recording cannot be read.
    """
    kind, _, rest = name.partition(":")
    if name == "offline":
        from agent_s.llm.offline import OfflineModel

        return OfflineModel()
    if kind == "recorded" and rest:
        from agent_s.llm.recorded import RecordedModel

        return RecordedModel(Path(rest))
    raise SettingsError(f"There is no model {name!r}. Set `model` to offline or recorded:FILE.")

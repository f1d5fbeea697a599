"""Models with a computer tool, and grounding models, from settings."""

from __future__ import annotations

from agent_s.errors import SettingsError
from agent_s.llm.computer_use.anthropic_toolset import ToolsetDialogue
from agent_s.llm.computer_use.dialogue import Dialogue
from agent_s.llm.computer_use.formats import find_format
from agent_s.llm.computer_use.model import TEMPLATE, ComputerModel
from agent_s.llm.computer_use.openai_computer import ComputerDialogue
from agent_s.llm.computer_use.served import GroundingModel, ServedDialogue
from agent_s.llm.protocol import Model, model_name
from agent_s.llm.providers.provider import ProviderModel

NATIVE = "native"


def with_computer_tool(model: Model, tool: str) -> ComputerModel:
    """Return a model that operates the screen with a computer tool.

    Args:
        model: A model of a provider or a server.
        tool: `native` for the tool of its provider or the format that its name suggests, or the name of a format.

    Raises:
        SettingsError: It has no such tool.
    """
    if not isinstance(model, ProviderModel):
        raise SettingsError(f"{model_name(model)} has no computer tool. Set provider.computer_tool to null.")
    client, settings, renderer = model.client, model.settings.for_role("act"), model.renderer
    provider = model.name.partition(":")[0]
    if provider in ("anthropic", "openai"):
        if tool != NATIVE:
            raise SettingsError(f"{model.name} has a tool of its own. Set provider.computer_tool to {NATIVE}.")
        system = renderer.block(TEMPLATE, "system", {})

        def of_provider(key: str) -> Dialogue:
            if provider == "anthropic":
                return ToolsetDialogue(client, settings, system)
            return ComputerDialogue(client, settings, system, key)

        return ComputerModel(model, of_provider)
    if provider not in ("http", "https"):
        raise SettingsError(f"The computer tool of {provider} is not supported. Set provider.computer_tool to null.")
    form = find_format(model.name, None if tool == NATIVE else tool)
    language = form.acts
    if language is None:
        raise SettingsError(
            f"The format {form.name} only finds places. Set it as grounding.format, with grounding.model."
        )

    def served(key: str) -> Dialogue:
        return ServedDialogue(client, settings, renderer, form, language)

    return ComputerModel(model, served)


def as_grounding(model: ProviderModel, form: str | None) -> GroundingModel:
    """Return a model behind a server as a grounding model.

    Args:
        model: The model.
        form: Name of its format; None for the one that its name suggests.

    Raises:
        SettingsError: There is no such format.
    """
    return GroundingModel(model, find_format(model.name, form))

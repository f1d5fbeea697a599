"""Factories for models by name."""

from __future__ import annotations

import importlib.util
import secrets
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import urlsplit

from agent_s.errors import ModelUnavailable, SettingsError, install_command
from agent_s.llm.protocol import Model
from agent_s.settings import Effort, ModelRole, ObservationForm, ProviderSettings, Settings

if TYPE_CHECKING:
    from agent_s.llm.providers.provider import ProviderModel, Send
    from agent_s.llm.providers.schemas import SchemaForm
    from agent_s.llm.providers.sdk_client import SdkClient
    from agent_s.llm.routing import Asked

NAMES = "offline, anthropic:NAME, openai:NAME, gemini:NAME, http://HOST:PORT/v1#NAME, or recorded:RUN"
KEY_NAMES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
EFFORTS: dict[str, tuple[Effort, ...]] = {
    "anthropic": ("low", "medium", "high", "xhigh", "max"),
    "openai": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "gemini": ("minimal", "low", "medium", "high", "xhigh"),
}
"""The efforts that a provider's models know, though not each of them every one."""
URL_KEY_NAME = "AGENT_S_API_KEY"


def default_model(environment: Mapping[str, str]) -> str:
    """Return the name of the default model: of the provider whose API key is set, else `offline`."""
    for provider, key_name in KEY_NAMES.items():
        if environment.get(key_name, "").strip():
            from agent_s.llm.providers.prices import load_prices

            return f"{provider}:{load_prices().defaults[provider]}"
    return "offline"


def build_models(settings: Settings, environment: Mapping[str, str]) -> Model:
    """Build the models that the settings name.

    Args:
        settings: Settings, of which `model`, `roles`, `provider`, `grounding`, `observation` and `limits` apply.
        environment: Environment variables with the API keys, such as `os.environ`.

    Raises:
        SettingsError: There is no such model, or dollars are limited and its price is unknown.
        ModelUnavailable: There is no key for it, or its SDK is not installed.
        ModelError: A recording cannot be read.
    """
    provider, folder = settings.provider, settings.runs_folder
    default = settings.model, provider.pictures_for()
    of_role = {
        role: (settings.roles.get(role, default[0]), provider.pictures_for(role)) for role in get_args(ModelRole)
    }
    models = {
        (name, pictures): build_model(
            name,
            environment,
            provider.model_copy(update={"max_pictures": pictures}),
            observation=settings.observation,
            runs_folder=folder,
        )
        for name, pictures in dict.fromkeys((default, *of_role.values()))
    }
    if settings.limits.max_dollars is not None:
        for name, _ in models:
            _require_price(name, provider)
    if provider.computer_tool is not None:
        from agent_s.llm.computer_use.build import with_computer_tool

        acting = of_role["act"]
        models[acting] = with_computer_tool(models[acting], provider.computer_tool)
    by_role: dict[Asked, Model] = {role: models[one] for role, one in of_role.items() if one != default}
    if settings.grounding.model is not None:
        by_role["ground"] = _grounding(settings, environment)
    if not by_role:
        return models[default]
    from agent_s.llm.routing import ModelByRole

    return ModelByRole(models[default], by_role)


def build_model(
    name: str,
    environment: Mapping[str, str] | None = None,
    provider: ProviderSettings | None = None,
    observation: ObservationForm = "screenshot_tree",
    runs_folder: Path | None = None,
) -> Model:
    """Build a model by name, without sending anything.

    Args:
        name: `offline`, `anthropic:NAME`, `openai:NAME`, `gemini:NAME`, the base URL of a server with `#NAME` of its
            model (or without, if it has only one), or `recorded:RUN`. Without NAME, the provider's default.
        environment: Environment variables with the API keys, such as `os.environ`; None to use only a keyring.
        provider: Settings of requests to providers.
        observation: Settings for what the model sees of the screen.
        runs_folder: Folder in which `recorded:RUN` is found by its id.

    Raises:
        SettingsError: There is no such model.
        ModelUnavailable: There is no key for it, or its SDK is not installed.
        ModelError: The recording cannot be read.
    """
    kind, _, rest = name.partition(":")
    environment, provider = environment or {}, provider or ProviderSettings()
    if name == "offline":
        return _registered(name)
    if kind == "recorded" and rest:
        from agent_s.llm.recorded import RecordedModel

        return RecordedModel(rest, runs_folder)
    if kind in ("http", "https"):
        return _served(name, environment, provider, observation)
    if kind not in KEY_NAMES:
        raise SettingsError(f"There is no model {name!r}. Set `model` to {NAMES}.")
    _require_efforts(kind, provider)
    from agent_s.llm.providers import anthropic, gemini, openai

    client = build_client(name, environment, provider)
    send = {"anthropic": anthropic.send, "openai": openai.send, "gemini": gemini.send}[kind]
    form: SchemaForm = "strict" if kind == "openai" else "flat"
    return _assembled(f"{kind}:{client.model}", client, send, provider, observation, form)


def build_client(name: str, environment: Mapping[str, str], settings: ProviderSettings) -> SdkClient:
    """Build the client for a model of a provider, one of `KEY_NAMES`.

    Raises:
        ModelUnavailable: There is no key for it, or its SDK is not installed.
    """
    from agent_s.llm.providers import anthropic, gemini, openai
    from agent_s.llm.providers.api_keys import require_key
    from agent_s.llm.providers.prices import load_prices
    from agent_s.llm.providers.sdk_client import SdkClient
    from agent_s.llm.providers.sdk_errors import Service

    provider, _, model = name.partition(":")
    _require_sdk(provider)
    model = model or load_prices(settings.prices).defaults.get(provider) or load_prices().defaults[provider]
    key = require_key(KEY_NAMES[provider], environment, provider)
    address = environment.get(f"{provider.upper()}_BASE_URL", "").strip()
    if provider == "anthropic":
        service = Service("Anthropic", address or anthropic.ADDRESS, model, KEY_NAMES[provider], key)
        return SdkClient("anthropic", service, settings.timeout_s, anthropic.CLIENT_ARGUMENTS)
    if provider == "gemini":
        service = Service("Google", address or gemini.ADDRESS, model, KEY_NAMES[provider], key)
        return gemini.GeminiClient(service, settings.timeout_s)
    service = Service("OpenAI", address or openai.ADDRESS, model, KEY_NAMES[provider], key)
    return SdkClient("openai", service, settings.timeout_s)


def _grounding(settings: Settings, environment: Mapping[str, str]) -> Model:
    """Build the grounding model."""
    from agent_s.llm.computer_use.build import as_grounding
    from agent_s.llm.providers.provider import ProviderModel

    name = settings.grounding.model or ""
    kind = name.partition(":")[0]
    model = build_model(name, environment, settings.provider) if kind in ("http", "https") else None
    if not isinstance(model, ProviderModel):
        raise SettingsError(
            f"A grounding model is behind a server. Set grounding.model to http://HOST:PORT/v1#NAME, not {name!r}."
        )
    return as_grounding(model, settings.grounding.format)


def _registered(name: str) -> Model:
    """Build a model that a higher layer registers in the entry point group `agent_s.models`."""
    for entry_point in entry_points(group="agent_s.models", name=name):
        model: Model = entry_point.load()()
        return model
    raise SettingsError(f"The model {name!r} is not registered: reinstall agent-s.")


def _served(
    url: str,
    environment: Mapping[str, str],
    settings: ProviderSettings,
    observation: ObservationForm,
) -> ProviderModel:
    from agent_s.llm.providers import chat
    from agent_s.llm.providers.api_keys import find_key

    address, model = _split(url)
    _require_sdk("openai")
    client = chat.ServerClient(address, model, find_key(URL_KEY_NAME, environment) or "", settings.timeout_s)
    name = f"{address}#{model}" if model else address
    return _assembled(name, client, chat.send, settings, observation, "kinds")


def _split(url: str) -> tuple[str, str]:
    """Return the base URL and the model of `http://HOST:PORT/v1#MODEL`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingsError(f"{url!r} is not a URL: {error}. Write http://HOST:PORT/v1#MODEL.") from error
    if not host:
        raise SettingsError(f"{url!r} names no host. Write http://HOST:PORT/v1#MODEL.")
    if parts.username is not None or parts.password is not None:
        raise SettingsError(f"The URL of a model is shown and recorded, so it holds no key. Set {URL_KEY_NAME}.")
    if parts.query:
        raise SettingsError(f"The URL of a model has no query. Write {parts.scheme}://{parts.netloc}/v1#MODEL.")
    path = parts.path.rstrip("/") or "/v1"
    return f"{parts.scheme}://{parts.netloc}{path.removesuffix('/chat/completions')}", parts.fragment


def _assembled(
    name: str,
    client: SdkClient,
    send: Send,
    settings: ProviderSettings,
    observation: ObservationForm,
    schema_form: SchemaForm,
) -> ProviderModel:
    from agent_s.llm.prompting.rendering import Renderer
    from agent_s.llm.providers.prices import load_prices
    from agent_s.llm.providers.provider import ProviderModel
    from agent_s.llm.providers.retries import Retrying

    renderer = Renderer(secrets.token_bytes(16), settings.pictures_for(), settings.longest_edge, observation)
    retrying, prices = Retrying(settings.retries), load_prices(settings.prices)
    return ProviderModel(name, client, send, settings, renderer, retrying, prices, schema_form)


def _require_sdk(provider: str) -> None:
    package, module = ("google-genai", "google.genai") if provider == "gemini" else (provider, provider)
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # of the package that holds the module
        found = None
    if found is None:
        raise ModelUnavailable(f"The Python package {package} is not installed: {install_command(provider)}")


def _require_efforts(kind: str, settings: ProviderSettings) -> None:
    efforts = settings.effort.values() if isinstance(settings.effort, dict) else (settings.effort,)
    for effort in efforts:
        if effort is not None and effort not in EFFORTS[kind]:
            known = ", ".join(EFFORTS[kind])
            raise SettingsError(f"provider.effort: models of {kind} do not know {effort!r}; there are: {known}.")


def _require_price(name: str, settings: ProviderSettings) -> None:
    from agent_s.llm.providers.prices import load_prices

    if name == "offline" or name.startswith("recorded:"):
        return
    kind, _, model = name.partition(":")
    prices = load_prices(settings.prices)
    full = name if model else f"{kind}:{prices.defaults.get(kind, '')}"
    if full not in prices.models:
        raise SettingsError(
            f"The price of {full} is unknown, so limits.max_dollars cannot be enforced. Set limits.max_tokens, or "
            "provider.prices to a list that has it."
        )

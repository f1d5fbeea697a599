"""Settings: frozen values from a YAML file that holds only what differs from the defaults, and dotted overrides."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from aci.accessibility.connection import BackEnd
from aci.input.backends import InputName
from aci.safety.policy import Risk, Rule
from aci.screen.emergency_stop import STOP_KEY, StopBy
from agent_s.errors import SettingsError
from agent_s.records import Limits, Planner

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.ocr.text_engine import TextEngine
    from aci.remote.desktop import OSWorldDesktop


class Section(BaseModel):
    """Base of all sections: immutable, and no undeclared key."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MemorySettings(Section):
    """Where experience is stored, and how it is used."""

    enabled: bool = True  # whether there is a memory at all
    path: Path | None = None  # the SQLite file; None for one in the user's data folder
    # a PostgreSQL database instead of the file, `postgresql://USER@HOST/DATABASE`
    url: Annotated[str, Field(pattern=r"^postgres(ql(\+psycopg)?)?://")] | None = None
    # `auto` uses MiniLM if its files are installed, else hashing
    # or `openai:NAME`, such as the paper's openai:text-embedding-3-small, or a server's URL, http://HOST:PORT/v1#NAME
    embedder: Annotated[str, Field(pattern=r"^(auto|minilm|hashing|openai:.+|https?://[^@#]+#.+)$")] = "auto"
    # cosine below which two texts are taken to be about different things; None for the embedder's own
    min_similarity: Annotated[float | None, Field(gt=-1, lt=1)] = None
    narrative: bool = True  # whether the Manager retrieves whole-task experience
    episodic: bool = True  # whether Workers retrieve subtask experience
    # whether the model gets experience `always`, or only `after_failure` of a first try
    give: Literal["always", "after_failure"] = "always"
    continual_update: bool = True  # whether runs write experience
    # whether a model sums up what was learned; otherwise memory keeps the list of what was done
    summaries: bool = True
    # whether the result of a state check that is kept from the agent, as in an evaluation, is written to memory
    checks: bool = True
    # when to give up a task at once that an exploration failed to do: `always`, `never`, or `unattended`, if there is
    # nobody to ask
    boundaries: Literal["always", "unattended", "never"] = "unattended"


class DesktopSettings(Section):
    """How desktops are created and read."""

    width: Annotated[int, Field(ge=320, le=16384)] = 1280  # width of a virtual desktop, px
    height: Annotated[int, Field(ge=240, le=16384)] = 800  # height of a virtual desktop, px
    accessibility: BackEnd = "dbus"  # reader of the accessibility bus: `dbus`, or `pyatspi`, the slow reference
    # engine that recognizes text that is only pixels; `auto` uses RapidOCR if it is installed
    ocr: Literal["auto", "none", "rapidocr", "tesseract", "paddleocr"] = "auto"
    ocr_models: Path | None = None  # folder of models, which PaddleOCR needs
    input: InputName = "xtest"  # back end for pointer and keyboard
    stop_key: str | None = STOP_KEY  # key combination that stops a run at once; None for none
    stop_corner: bool = True  # whether moving the mouse into a corner of the screen also stops a run
    stop_virtual: bool = False  # whether both also apply to virtual desktops

    @field_validator("stop_key")
    @classmethod
    def _is_a_key(cls, value: str | None) -> str | None:
        if value is not None:
            from aci.input.keys import chord

            chord([value])
        return value

    def stop_by(self, virtual: bool) -> StopBy | None:
        """Return how a person stops a run from the screen; None if they cannot."""
        wanted = self.stop_key is not None or self.stop_corner
        if not wanted or (virtual and not self.stop_virtual):
            return None
        return StopBy(self.stop_key, self.stop_corner)

    def text_engine(self) -> TextEngine | Literal["auto"] | None:
        """Return the engine that `ocr` names.

        Raises:
            MissingDependency: It is not installed.
        """
        if self.ocr == "auto":
            return "auto"
        if self.ocr == "none":
            return None
        from aci.ocr.engines import build_engine

        return build_engine(self.ocr, self.ocr_models)

    def new_virtual(self, environment: Mapping[str, str] | None = None) -> VirtualDesktop:
        """Return a private desktop with these settings, for a `with` block.

        Args:
            environment: Further variables for its applications.

        Raises:
            MissingDependency: The engine that `ocr` names is not installed.
        """
        from aci.desktop.virtual import VirtualDesktop

        return VirtualDesktop(size=(self.width, self.height), environment=environment, **self._parts(virtual=True))

    def new_remote(self, address: str) -> OSWorldDesktop:
        """Return the desktop of a machine of OSWorld with these settings, for a `with` block.

        Raises:
            ConnectionLost: The address is none.
            MissingDependency: The engine that `ocr` names is not installed.
        """
        from aci.remote.desktop import OSWorldDesktop

        return OSWorldDesktop(address, ocr=self.text_engine())

    def new_own(self, display: str) -> X11Desktop:
        """Return the desktop of a display with these settings, for a `with` block.

        Raises:
            DesktopError: It cannot be used.
            MissingDependency: The engine that `ocr` names is not installed.
        """
        from aci.desktop.x11 import X11Desktop

        return X11Desktop(display, **self._parts(virtual=False))

    def _parts(self, virtual: bool) -> dict[str, Any]:
        stop_by = self.stop_by(virtual)
        return {"accessibility": self.accessibility, "ocr": self.text_engine(), "input": self.input, "stop_by": stop_by}


class PolicySettings(Section):
    """What the agent may do without asking."""

    # `risky` asks before risky actions (on a virtual desktop there are none), `always` before every action, `never` not
    # at all
    confirm: Literal["risky", "always", "never"] = "risky"
    rules: dict[Risk, Rule] = {}  # `allow`, `confirm` or `refuse` for kinds of risk, if different from the default
    allowed_apps: tuple[str, ...] = ()  # names of the applications that may be used; empty for all


ModelRole = Literal["plan", "act", "reflect", "verify", "summarize"]


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class ProviderSettings(Section):
    """Requests to providers and model servers."""

    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120.0  # longest wait for an answer, s
    retries: Annotated[int, Field(ge=0, le=20)] = 4  # maximum number of retries after transient errors
    max_output_tokens: Annotated[int, Field(ge=256)] = 16_000  # maximum length of an answer, including reasoning
    # maximum number of screenshots in a request; 0 for a model without vision
    max_pictures: Annotated[int, Field(ge=0, le=20)] = 3
    longest_edge: Annotated[int, Field(ge=200, le=8000)] = 1568  # longest edge of a screenshot as it is sent, px
    # how much a model thinks and writes, for all roles or by role; None for its default
    effort: Effort | dict[ModelRole, Effort] | None = None
    # whether a model thinks before it answers, for all roles or by role; None for its default
    thinking: bool | dict[ModelRole, bool] | None = None
    # how the Worker's model uses the screen: by primitives over elements if None; `native` for the computer tool of its
    # provider, or for the format that its name suggests; or the name of a format (docs/models.md)
    computer_tool: str | None = None
    prices: Path | None = None  # a price list in the format of the packaged one; None for the packaged one

    def for_role(self, role: ModelRole) -> RequestSettings:
        """Return the settings of one role's requests."""
        effort = self.effort.get(role) if isinstance(self.effort, dict) else self.effort
        thinking = self.thinking.get(role) if isinstance(self.thinking, dict) else self.thinking
        return RequestSettings.model_validate({**dict(self), "effort": effort, "thinking": thinking})


class RequestSettings(ProviderSettings):
    """The same for one role."""

    effort: Effort | None = None  # how much the model thinks and writes
    thinking: bool | None = None  # whether it thinks before it answers


ObservationForm = Literal["screenshot", "tree", "screenshot_tree", "marks", "coordinates"]
_OSWORLD_FORMS = {"a11y_tree": "tree", "screenshot_a11y_tree": "screenshot_tree", "som": "marks"}


Engine = Literal["auto", "none", "vane", "perplexica", "searxng", "hosted"]


class SearchSettings(Section):
    """Web search for the Manager."""

    # `vane`, `perplexica` (up to 1.12), `searxng`, `hosted` by the model's provider, `none`, or `auto`: hosted if the
    # provider of the planning model has a web search, else none
    engine: Engine = "auto"
    url: str | None = None  # address of the engine; not used for `hosted` and `auto`
    results: Annotated[int, Field(ge=1, le=20)] = 5  # maximum number of results
    timeout_s: Annotated[float, Field(gt=0, le=300)] = 20.0  # longest wait, s; then planning continues without results
    chat_model: str | None = None  # key of the model that Vane answers with; None for its first
    embedding_model: str | None = None  # key of the model that Vane ranks with; None for its first
    # age up to which stored results replace a search, days; 0 for never
    cache_days: Annotated[float, Field(ge=0, le=3650)] = 7.0
    # age up to which stored results are used if the engine does not answer, days
    fallback_days: Annotated[float, Field(ge=0, le=3650)] = 90.0


class ReflectionSettings(Section):
    """When the trajectory reflector gives feedback."""

    enabled: bool = True  # whether it does at all
    # also reflect after this number of steps of a subtask; 0 for only when something looks wrong
    every: Annotated[int, Field(ge=0)] = 0


MOST_ACTIONS = 20


class WorkerSettings(Section):
    """How the Worker acts."""

    # maximum number of primitives that an answer may hold; those after the first are performed as long as the screen
    # stays as it was foreseen. None: 1, or as many as possible with `provider.computer_tool`, whose models count on it
    max_actions: Annotated[int | None, Field(ge=1, le=MOST_ACTIONS)] = None


class GroundingSettings(Section):
    """A model that does nothing but find on the screen what the Worker describes."""

    # its server, `http://HOST:PORT/v1#NAME`; None for none: then the Worker names elements, places and pixels itself
    model: str | None = None
    format: str | None = None  # name of its format (docs/models.md); None for the one that its name suggests
    # how often it looks again, each time at half of the width and height around the place that it found
    zooms: Annotated[int, Field(ge=0, le=3)] = 1


class Settings(Section):
    """All settings."""

    # `offline`, `anthropic:NAME`, `openai:NAME`, `gemini:NAME`, the URL of a server, or `recorded:RUN`
    model: str = "offline"
    roles: dict[ModelRole, str] = {}  # other models for plan, act, reflect, verify or summarize
    provider: ProviderSettings = ProviderSettings()  # requests to providers and model servers
    # what a model is shown of the screen: pictures, the tree with the recognized texts, both, or also the pictures with
    # a numbered mark at each element; OSWorld's names for the last three are read, too. `coordinates`, the baseline of
    # the paper's ablations, is the picture and a table of elements without ids
    observation: ObservationForm = "screenshot_tree"
    limits: Limits = Limits()
    memory: MemorySettings = MemorySettings()
    desktop: DesktopSettings = DesktopSettings()
    search: SearchSettings = SearchSettings()  # web search
    worker: WorkerSettings = WorkerSettings()
    grounding: GroundingSettings = GroundingSettings()  # a model that finds what the Worker describes
    reflection: ReflectionSettings = ReflectionSettings()
    policy: PolicySettings = PolicySettings()
    # `hierarchical` lets the Manager split a task into subtasks, `flat` gives it to the Worker unchanged
    planner: Planner = "hierarchical"
    # whether verified experience is replayed without a model; `only` never calls a model
    replay: bool | Literal["only"] = True
    # whether a model judges the end of a task that has no state check; with `strict`, an undecided judgement counts as
    # failure
    evaluator: bool | Literal["strict"] = True
    # a desktop notification at the end of a run that took at least this long, s; None for none
    notify_after_s: Annotated[float | None, Field(ge=0)] = 10.0
    runs_dir: Path | None = None  # folder of the trajectories; None for the user's data folder

    @field_validator("observation", mode="before")
    @classmethod
    def _of_osworld(cls, value: object) -> object:
        return _OSWORLD_FORMS.get(value, value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        if self.replay == "only" and not self.memory.enabled:
            raise ValueError("replay is `only`, but there is no memory to replay from (memory.enabled is false)")
        if self.memory.path is not None and self.memory.url is not None:
            raise ValueError("memory.path and memory.url name two memories: set one of them to null")
        if self.observation in ("screenshot", "marks") and self.provider.max_pictures == 0:
            raise ValueError(f"observation is `{self.observation}`, but provider.max_pictures is 0: set one of them")
        return self

    @property
    def max_actions(self) -> int:
        """Maximum number of primitives in an answer of the Worker."""
        return self.worker.max_actions or (MOST_ACTIONS if self.provider.computer_tool is not None else 1)

    @property
    def memory_path(self) -> Path:
        """The SQLite file."""
        return self.memory.path or data_folder() / "memory.sqlite"

    @property
    def runs_folder(self) -> Path:
        """The folder of the trajectories."""
        return self.runs_dir or data_folder() / "runs"


def data_folder() -> Path:
    """Return the platform's folder for the user's data; does not create it."""
    from platformdirs import user_data_path

    return user_data_path("agent-s", appauthor=False)


def configs_folder() -> Path:
    """Return the folder of the packaged configurations and demo tasks.

    In a wheel it is inside the package; in a checkout it is next to it.
    """
    packaged = Path(str(files("agent_s"))) / "configs"
    return packaged if packaged.is_dir() else Path(str(files("agent_s"))).parent / "configs"


def setting_keys() -> Iterator[str]:
    """Yield the dotted keys of all settings."""
    for name, field in Settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from (f"{name}.{key}" for key in inner.model_fields)
        else:
            yield name


def load_settings(path: str | Path | None = None, overrides: Mapping[str, object] | None = None) -> Settings:
    """Read settings from a YAML file, and apply overrides.

    Args:
        path: A YAML file with the keys that differ from the defaults; None for the defaults.
        overrides: Values by dotted key, such as `{"limits.max_steps": 30}`. Strings are parsed as YAML values.

    Raises:
        SettingsError: The file cannot be read, a key is unknown (the message suggests the nearest one), or a value is
            invalid.
    """
    values = _read_yaml(Path(path)) if path is not None else {}
    for key, value in (overrides or {}).items():
        _set(values, key, value)
    _refuse_unknown(Settings, values, "")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(f"Invalid settings: {'; '.join(map(_problem, error.errors()))}") from error


def _problem(item: Mapping[str, Any]) -> str:
    """Return what is wrong with one setting, or between several."""
    place = ".".join(map(str, item["loc"]))
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(f"There is no configuration file {path}.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"The configuration file {path} cannot be read: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise SettingsError(f"The configuration file {path} must hold keys and values, such as `model: offline`.")
    return values


def _set(values: dict[str, Any], dotted: str, value: object) -> None:
    import yaml

    *sections, last = dotted.split(".")
    for section in sections:
        inner = values.setdefault(section, {})
        if not isinstance(inner, dict):
            raise SettingsError(f"{dotted}: {section!r} is not a section.")
        values = inner
    try:
        values[last] = yaml.safe_load(value) if isinstance(value, str) else value
    except yaml.YAMLError as error:
        raise SettingsError(f"{dotted}: cannot read the value {value!r}: {error}") from error


def _refuse_unknown(section: type[BaseModel], values: Mapping[str, Any], prefix: str) -> None:
    for key, value in values.items():
        known = section.model_fields.get(key)
        if known is None:
            near = difflib.get_close_matches(str(key), section.model_fields, n=1)
            hint = f" Did you mean {prefix}{near[0]}?" if near else f" There are: {', '.join(section.model_fields)}."
            raise SettingsError(f"There is no setting {prefix}{key}.{hint}")
        inner = known.annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            _refuse_unknown(inner, value, f"{prefix}{key}.")

"""Settings: frozen values from a YAML file that holds only what differs from the defaults, and dotted overrides."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

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


Place = Annotated[Path, AfterValidator(Path.expanduser)]
"""A path, in which `~` is the home."""


class Section(BaseModel):
    """Base of all sections: immutable, and no undeclared key."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MemorySettings(Section):
    """Where experience is stored, and how it is used."""

    enabled: bool = True
    """Whether memory is used."""
    path: Place | None = None
    """The SQLite file; by default one in the user data folder."""
    url: Annotated[str, Field(pattern=r"^postgres(ql(\+psycopg)?)?://")] | None = None
    """A PostgreSQL database instead of the file: `postgresql://USER@HOST/DATABASE`."""
    embedder: Annotated[str, Field(pattern=r"^(auto|minilm|hashing|openai:.+|https?://[^@#]+#.+)$")] = "auto"
    """`minilm`, `hashing`, `openai:NAME`, the URL of a server with `#NAME`, or `auto`: MiniLM if it is installed
    ([memory](memory.md#embedders))."""
    min_similarity: Annotated[float | None, Field(gt=-1, lt=1)] = None
    """Cosine below which two texts count as different, for an embedder of a server; by default that of the embedder."""
    trusted: tuple[str, ...] | None = None
    """Users whose experience is replayed without asking, besides your own; `null` for all
    ([a memory for a team](howto/team_memory.md#whom-to-trust))."""
    narrative: bool = True
    """Whether the Manager retrieves whole-task experience."""
    episodic: bool = True
    """Whether Workers retrieve subtask experience."""
    give: Literal["always", "after_failure"] = "always"
    """When the model gets experience: `always`, or `after_failure` of a first attempt."""
    judge: bool = True
    """Whether a model judges if doubtful experience asks for the same in other words, before it is replayed or refused
    ([memory](memory.md#in-other-words)); the offline model is not asked."""
    continual_update: bool = True
    """Whether runs write experience."""
    summaries: bool = True
    """Whether a model sums up what was learned, after the end of the run; `false` keeps the list of what was done."""
    checks: bool = True
    """Whether the verdict of an evaluation's state check is written to memory; `false` keeps it from later tasks."""
    boundaries: Literal["always", "unattended", "never"] = "unattended"
    """When a task that exploration found impossible is given up at once: `always`, `never`, or `unattended` (if
    there is nobody to ask)."""


class DesktopSettings(Section):
    """How desktops are created and read."""

    width: Annotated[int, Field(ge=320, le=16384)] = 1280
    """Width of a virtual desktop, px."""
    height: Annotated[int, Field(ge=240, le=16384)] = 800
    """Height of a virtual desktop, px."""
    accessibility: BackEnd = "dbus"
    """Accessibility back end: `dbus`, or `pyatspi`, the slow reference (Debian: `python3-pyatspi gir1.2-atspi-2.0
    python3-gi`)."""
    ocr: Literal["auto", "none", "rapidocr", "tesseract", "paddleocr"] = "auto"
    """Reads text that is only pixels: `rapidocr`, `tesseract`, `paddleocr`, `none`, or `auto`: RapidOCR if it is
    installed."""
    ocr_models: Place | None = None
    """Folder of models, which PaddleOCR needs."""
    input: InputName = "xtest"
    """What moves the pointer and presses keys: `xtest` or `pyautogui` ([input](input.md))."""
    stop_key: str | None = STOP_KEY
    """Keys that stop a run at once when you press them together; `null` for none."""
    stop_corner: bool = True
    """Whether pushing the mouse into a corner of the screen stops a run too."""
    stop_virtual: bool = False
    """Whether both also apply to a virtual desktop."""

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

    def new_virtual(self, environment: Mapping[str, str] | None = None, files: Path | None = None) -> VirtualDesktop:
        """Return a private desktop with these settings, for a `with` block.

        Args:
            environment: Further variables for its applications.
            files: Folder whose content its home begins with, as a copy.

        Raises:
            MissingDependency: The engine that `ocr` names is not installed.
        """
        from aci.desktop.virtual import VirtualDesktop

        size, parts = (self.width, self.height), self._parts(virtual=True)
        return VirtualDesktop(size=size, environment=environment, files=files, **parts)

    def new_remote(self, address: str) -> OSWorldDesktop:
        """Return the desktop of a machine of OSWorld with these settings, for a `with` block.

        Raises:
            ConnectionLost: The address is not valid.
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

    confirm: Literal["risky", "always", "never"] = "risky"
    """`risky` asks before risky actions, `always` before all, `never` not at all."""
    rules: dict[Risk, Rule] = {}
    """`allow`, `confirm` or `refuse` for a kind of risk; by default as in the table of risks."""
    allowed_apps: tuple[str, ...] = ()
    """Names of the applications that may be used; all if there are none."""


ModelRole = Literal["plan", "act", "reflect", "verify", "summarize", "judge"]


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


MOST_TOKENS = 16_000
Tokens = Annotated[int, Field(ge=256)]
MOST_PICTURES = 3
Pictures = Annotated[int, Field(ge=0, le=20)]


class ProviderSettings(Section):
    """Requests to providers and model servers."""

    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """Time limit of an answer, s."""
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    """Number of retries after a transient error."""
    max_output_tokens: Tokens | dict[ModelRole, Tokens] = MOST_TOKENS
    """Maximum length of an answer, thinking included; also by role, such as `provider.max_output_tokens.plan=1000`."""
    max_pictures: Pictures | dict[ModelRole, Pictures] = MOST_PICTURES
    """Maximum number of screenshots in a request; 0 for a text-only model; also by role, such as
    `provider.max_pictures.plan=0`."""
    longest_edge: Annotated[int, Field(ge=200, le=8000)] = 1568
    """Longest edge of the screenshots sent, px."""
    effort: Effort | dict[ModelRole, Effort] | None = None
    """How much a model thinks and writes: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, as far as
    its provider knows them; also by role, such as `provider.effort.act=low`; by default the model decides."""
    thinking: bool | dict[ModelRole, bool] | None = None
    """Whether a model thinks before it answers; also by role, such as `provider.thinking.act=false`. The newest
    models refuse `false` ([models](models.md#thinking)); by default the model decides."""
    computer_tool: str | None = None
    """`native`: the Worker's model operates the screen by pixels, with the [computer tool](models.md#computer-tools)
    of its provider or the format that its name suggests; or the name of a format."""
    prices: Place | None = None
    """Your own price list; by default the packaged one."""

    def for_role(self, role: ModelRole) -> RequestSettings:
        """Return the settings of one role's requests."""
        effort = self.effort.get(role) if isinstance(self.effort, dict) else self.effort
        thinking = self.thinking.get(role) if isinstance(self.thinking, dict) else self.thinking
        tokens = self.max_output_tokens
        longest = tokens.get(role, MOST_TOKENS) if isinstance(tokens, dict) else tokens
        own = {"effort": effort, "thinking": thinking, "max_pictures": self.pictures_for(role)}
        own["max_output_tokens"] = longest
        return RequestSettings.model_validate({**dict(self), **own})

    def pictures_for(self, role: ModelRole | None = None) -> int:
        """Return the maximum number of screenshots in a request of a role, or of those that are not named."""
        if not isinstance(self.max_pictures, dict):
            return self.max_pictures
        return self.max_pictures.get(role, MOST_PICTURES) if role is not None else MOST_PICTURES


class RequestSettings(ProviderSettings):
    """The same for one role."""

    max_output_tokens: Tokens = MOST_TOKENS  # maximum length of an answer
    max_pictures: Pictures = MOST_PICTURES  # maximum number of screenshots
    effort: Effort | None = None  # how much the model thinks and writes
    thinking: bool | None = None  # whether it thinks before it answers


ObservationForm = Literal["screenshot", "tree", "screenshot_tree", "marks", "coordinates"]
_OSWORLD_FORMS = {"a11y_tree": "tree", "screenshot_a11y_tree": "screenshot_tree", "som": "marks"}


Engine = Literal["auto", "none", "vane", "perplexica", "searxng", "hosted"]


class SearchSettings(Section):
    """Web search for the Manager."""

    engine: Engine = "auto"
    """The search engine of the Manager: `vane`, `perplexica` (up to 1.12), `searxng`, `hosted` by the model's
    provider, `none`, or `auto`: `hosted` if the provider of the planning model has a web search
    ([models](models.md#web-search))."""
    url: str | None = None
    """Address of the engine, such as `http://localhost:3000`; not for `hosted` and `auto`."""
    results: Annotated[int, Field(ge=1, le=20)] = 5
    """Maximum number of results used."""
    timeout_s: Annotated[float, Field(gt=0, le=300)] = 20.0
    """Time limit, s; planning continues without an answer."""
    chat_model: str | None = None
    """Key of the model that Vane uses to answer; its first one by default."""
    embedding_model: str | None = None
    """Key of the model that Vane uses to rank; its first one by default."""
    cache_days: Annotated[float, Field(ge=0, le=3650)] = 7.0
    """How long an answer is reused for the same query, days; 0 to always ask."""
    fallback_days: Annotated[float, Field(ge=0, le=3650)] = 90.0
    """Maximum age of an answer that is used, marked as old, if the engine does not answer, days; 0 for none."""


class ReflectionSettings(Section):
    """When the trajectory reflector gives feedback."""

    enabled: bool = True
    """Whether the trajectory reflector is used."""
    every: Annotated[int, Field(ge=0)] = 0
    """Number of steps between reflections; 0 to reflect only when something is wrong."""


MOST_ACTIONS = 20


class WorkerSettings(Section):
    """How the Worker acts."""

    max_actions: Annotated[int | None, Field(ge=1, le=MOST_ACTIONS)] = None
    """Maximum number of primitives in an answer; further ones are performed as long as the screen stays [as
    expected](control_flow.md#several-primitives-in-one-answer); by default 1, or 20 with a computer tool."""


class GroundingSettings(Section):
    """A model that does nothing but find on the screen what the Worker describes."""

    model: str | None = None
    """A server, `http://HOST:PORT/v1#NAME`, whose model finds what the Worker
    [describes](models.md#a-model-that-finds-places)."""
    format: str | None = None
    """The format of that model; by default the one that its name suggests."""
    zooms: Annotated[int, Field(ge=0, le=3)] = 1
    """How often that model looks again around the place that it found."""


class Settings(Section):
    """All settings."""

    model: str = "offline"
    """`offline`, `anthropic:NAME`, `openai:NAME`, `gemini:NAME`, the URL of a server, or `recorded:RUN`
    ([models](models.md))."""
    roles: dict[ModelRole, str] = {}
    """Other models for single roles: `roles.plan`, `roles.act`, `roles.reflect`, `roles.verify`, `roles.summarize`,
    `roles.judge`."""
    provider: ProviderSettings = ProviderSettings()  # requests to providers and model servers
    observation: ObservationForm = "screenshot_tree"
    """What a model sees of the screen: `screenshot`, `tree`, `screenshot_tree`, or `marks`, which also sends
    each picture with a numbered mark at each element; OSWorld's `a11y_tree`, `screenshot_a11y_tree` and `som` mean
    the last three; `coordinates` shows a table of elements without ids, for comparison
    ([models](models.md#what-is-sent))."""
    limits: Limits = Limits()
    memory: MemorySettings = MemorySettings()
    desktop: DesktopSettings = DesktopSettings()
    search: SearchSettings = SearchSettings()  # web search
    worker: WorkerSettings = WorkerSettings()
    grounding: GroundingSettings = GroundingSettings()  # a model that finds what the Worker describes
    reflection: ReflectionSettings = ReflectionSettings()
    policy: PolicySettings = PolicySettings()
    planner: Planner = "hierarchical"
    """`hierarchical` lets the Manager split a task; `flat` gives the Worker all of it, without calling the Manager."""
    replay: bool | Literal["only"] = True
    """Whether verified experience is replayed without a model; `only` never calls a model."""
    evaluator: bool | Literal["strict"] = True
    """Whether a model judges a task without a state check; `false` trusts DONE; `strict` also fails a task that
    cannot be judged."""
    notify_after_s: Annotated[float | None, Field(ge=0)] = 10.0
    """Shows a desktop notification at the end of a run that took at least this long, s; `null` for none. Needs a
    session bus."""
    runs_dir: Place | None = None
    """Where runs are recorded; by default in the user data folder."""

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
    place = ".".join(str(part) for part in item["loc"] if part != "[key]")
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] in ("model_type", "dict_type"):
        message = "this is a section, which holds keys and values"
    return f"{place}: {message}" if place else message


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        _refuse_repeated(path, yaml.compose(text, yaml.SafeLoader))
        values = yaml.safe_load(text)
    except FileNotFoundError as error:
        raise SettingsError(f"There is no configuration file {path}.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"The configuration file {path} cannot be read: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise SettingsError(f"The configuration file {path} must hold keys and values, such as `model: offline`.")
    return values


def _refuse_repeated(path: Path, node: Any) -> None:
    """Refuse a key that is given twice in a section, of which YAML's reader would drop the first."""
    given: set[str] = set()
    for key, value in node.value if node is not None and node.id == "mapping" else ():
        name = str(key.value)
        if name in given:
            line = key.start_mark.line + 1
            raise SettingsError(f"The configuration file {path} has {name} twice, the second time in line {line}.")
        given.add(name)
        _refuse_repeated(path, value)


def _set(values: dict[str, Any], dotted: str, value: object) -> None:
    import yaml

    *sections, last = dotted.split(".")
    for section in sections:
        inner = values.setdefault(section, {})
        if not isinstance(inner, dict):
            raise SettingsError(f"{dotted}: {section!r} is not a section.")
        values = inner
    try:
        read = yaml.safe_load(value) if isinstance(value, str) else value
    except yaml.YAMLError as error:
        raise SettingsError(f"{dotted}: cannot read the value {value!r}: {error}") from error
    values[last] = read if isinstance(read, str) or read is None or not _is_text(dotted) else value


def _is_text(dotted: str) -> bool:
    """Return whether a setting takes text: `anthropic:`, a mapping to YAML, is the name of a model."""
    kind: Any = Settings
    for part in dotted.split("."):
        fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
        kind = fields[part].annotation if part in fields else None
    return kind in (str, str | None)


def _refuse_unknown(section: type[BaseModel], values: Mapping[str, Any], prefix: str) -> None:
    for key, value in values.items():
        known = section.model_fields.get(key)
        if known is None:
            outer, dot, _ = str(key).partition(".")
            if dot and outer in section.model_fields:
                raise SettingsError(f"In a file, the settings of a section are indented below `{outer}:`, not {key}.")
            near = difflib.get_close_matches(str(key), section.model_fields, n=1)
            hint = f" Did you mean {prefix}{near[0]}?" if near else f" There are: {', '.join(section.model_fields)}."
            raise SettingsError(f"There is no setting {prefix}{key}.{hint}")
        inner = known.annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            _refuse_unknown(inner, value, f"{prefix}{key}.")

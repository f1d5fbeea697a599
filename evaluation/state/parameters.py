"""Keys of task files as typed models, read from the signatures of the functions that use them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection
from difflib import get_close_matches
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, model_validator
from pydantic_core import PydanticCustomError

Argv = Annotated[tuple[str, ...], Field(min_length=1)]  # a command as a list of program and arguments
ShellText = Annotated[str, Field(min_length=1)]
Command = Argv | ShellText  # a command as task files write it: program and arguments, or a line for the shell
Truthy = bool | str  # a switch; some files write `"true"` or the name of a shell
Unused = Any  # a key that OSWorld needs and this program does not, such as `dest`, the name of its copy of a file

LIKE_A_KNOWN_KEY = 0.8  # how similar a key must be to a known one to be taken for a slip of the pen, from 0 to 1


class Parameters(BaseModel):
    """Base of all parts of a task file: immutable, without undeclared keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_unknown_keys(cls, content: Any, info: ValidationInfo) -> Any:
        return known_part(content, [field.alias or name for name, field in cls.model_fields.items()], info)


def known_part(content: Any, known: Collection[str], info: ValidationInfo) -> Any:
    """Return a JSON object without the keys that nothing reads, which are noted in `info.context["unread"]`.

    OSWorld ignores unknown keys, and files written for it have some. A key that looks like a slip for a known one that
    is not given is an error, and so is every unknown key where there is no list to note it in.

    Raises:
        PydanticCustomError: With the key and the known ones, which `extra="forbid"` would not name.
    """
    if not isinstance(content, dict):
        return content
    unknown = [key for key in content if key not in known]
    missing = [key for key in known if key not in content]
    unread = (info.context or {}).get("unread")
    for key in unknown:
        if unread is None or get_close_matches(str(key), missing, 1, LIKE_A_KNOWN_KEY):
            raise PydanticCustomError("unknown_key", "unknown key {key}", {"key": str(key), "known": list(known)})
        unread.append(str(key))
    return {key: value for key, value in content.items() if key not in unknown} if unknown else content


def new_model(name: str, /, *bases: type[Parameters], **fields: Any) -> Any:
    """Return the class of a model whose fields come from a table, each a pair of type and default."""
    create: Any = create_model
    return create(name, __base__=bases or (Parameters,), **fields)


def parameters_of(
    function: Callable[..., Any], kind: Any = inspect.Parameter.KEYWORD_ONLY, without: Collection[str] = ()
) -> type[Parameters]:
    """Return the model of a function's parameters of a kind, but for some, with their types and defaults.

    A parameter that is a word of Python in a task file, such as `class`, has an underscore at its end.
    """
    hints = get_type_hints(function, include_extras=True)
    fields = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is kind and name not in without:
            default = ... if parameter.default is parameter.empty else parameter.default
            alias = name.removesuffix("_")
            fields[name] = (hints[name], default if alias == name else Field(default, alias=alias))
    model: type[Parameters] = new_model(function.__name__, **fields)
    return model


def keywords(parameters: Parameters, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a model as the keyword arguments of its function."""
    return {name: getattr(parameters, name) for name in type(parameters).model_fields if name not in without}


def by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by their names."""
    return {function.__name__: function for function in functions}


def public_functions(module: str, returns: type, first: Collection[str]) -> list[Callable[..., Any]]:
    """Return the functions of a module for task files: those without an underscore before their names.

    Args:
        module: Its `__name__`.
        returns: What they return.
        first: Names of their first parameters, any of which marks such a function.
    """
    functions = [value for name, value in vars(sys.modules[module]).items() if not name.startswith("_")]
    return [
        function
        for function in functions
        if inspect.isfunction(function)
        and function.__module__ == module
        and function.__annotations__.get("return") == returns.__name__
        and next(iter(inspect.signature(function).parameters), "") in first
    ]

"""Keys of task files as typed models, read from the signatures of the functions that use them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

Argv = Annotated[tuple[str, ...], Field(min_length=1)]
"""A command as a list of program and arguments; a shell line is refused."""
Unused = str | None
"""`dest`, the name of OSWorld's copy of a file; accepted and ignored, since nothing is copied."""


class Parameters(BaseModel):
    """Base of all parts of a task file: immutable, without undeclared keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, content: Any) -> Any:
        refuse_unknown_keys(content, cls.model_fields)
        return content


def refuse_unknown_keys(content: Any, known: Collection[str]) -> None:
    """Raise a validation error that lists the valid keys, unlike that of `extra="forbid"`."""
    for key in content if isinstance(content, dict) else ():
        if key not in known:
            raise PydanticCustomError("unknown_key", "unknown key {key}", {"key": str(key), "known": list(known)})


def new_model(name: str, *bases: type[Parameters], **fields: Any) -> Any:
    """Return the class of a model whose fields come from a table, each a pair of type and default."""
    create: Any = create_model
    return create(name, __base__=bases or (Parameters,), **fields)


def parameters_of(function: Callable[..., Any]) -> type[Parameters]:
    """Return the model of a function's keyword-only parameters, with their types and defaults."""
    hints = get_type_hints(function, include_extras=True)
    fields = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    model: type[Parameters] = new_model(function.__name__, **fields)
    return model


def keywords(parameters: Parameters, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a model as the keyword arguments of its function."""
    return {name: getattr(parameters, name) for name in type(parameters).model_fields if name not in without}


def by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by their names."""
    return {function.__name__: function for function in functions}

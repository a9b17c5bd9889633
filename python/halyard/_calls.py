# SPDX-License-Identifier: Apache-2.0
"""Error texts for calls whose arguments do not fit. The extension calls explain() after one of its
own calls has failed: Python's wording instead of a list of signatures. Functions written in Python
are decorated with helpful: Python's wording, and the nearest name."""
from __future__ import annotations

import ast
import functools
import inspect
import re
from typing import (Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
                    TypeVar)

from ._words import nearest

F = TypeVar("F", bound=Callable[..., Any])

# The name of an argument in other packages -> its possible names here.
_SYNONYMS = {
    "conf": ("score_threshold", "confidence", "high_conf"),
    "confidence": ("score_threshold", "conf", "high_conf"), "score_threshold": ("conf",),
    "conf_threshold": ("score_threshold", "conf", "high_conf"),
    "threshold": ("score_threshold", "conf", "iou"),
    "iou": ("iou_threshold",), "nms_threshold": ("iou_threshold", "iou"),
    "names": ("labels",), "class_names": ("labels", "names"), "imgsz": ("input_size",),
    "max_detections": ("max_det", "max_boxes"), "top_k": ("pre_nms_top_k", "max_det"),
    "outputs": ("model_output",), "boxes": ("bbox",), "image": ("dst", "src"),
    "rotate": ("rotation",), "interpolation": ("filter",), "size": ("size_mb", "shape"),
    "path": ("filename",), "filename": ("path",), "file": ("path", "filename"),
}
_KINDS: Dict[str, Tuple[str, str]] = {  # annotation -> text, and the method that a value must have
    "int": ("an int", "__index__"), "float": ("a number", "__float__")}


class _Parameter(NamedTuple):
    name: str
    annotation: Optional[ast.expr]
    is_required: bool


class _Signature(NamedTuple):
    positional: List[_Parameter]
    only_positional: int  # how many of them have no keyword
    keyword: List[_Parameter]
    takes_any: bool  # *args or **kwargs

    @property
    def named(self) -> List[_Parameter]:
        return self.positional[self.only_positional:] + self.keyword


def _signature(text: str) -> _Signature:
    text = re.sub(r"= \\=?\d+", "= ...", text.splitlines()[-1])
    text = re.sub(r"^def \(", "def _(", text)
    made = ast.parse(f"{text}: ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    given = made.args
    positional = given.posonlyargs + given.args
    required = len(positional) - len(given.defaults)
    return _Signature(
        [_Parameter(each.arg, each.annotation, i < required) for i, each in enumerate(positional)],
        len(given.posonlyargs),
        [_Parameter(each.arg, each.annotation, default is None)
         for each, default in zip(given.kwonlyargs, given.kw_defaults)],
        given.vararg is not None or given.kwarg is not None)


def _listed(names: Sequence[str]) -> str:
    return (", ".join(names[:-1]) + " and " + names[-1]) if len(names) > 1 else names[0]


def _unexpected(called: str, word: str, of: _Signature, owner: Optional[type]) -> str:
    names = [each.name for each in of.named if each.name != "self"]
    meant = [other for other in _SYNONYMS.get(word, ()) if other in names]
    near = meant[0] if meant else nearest(word, names)
    text = f"{called}() got an unexpected keyword argument {word!r}"
    if near:
        return f"{text}; did you mean {near!r}?"
    attributes = [other for other in (word, *_SYNONYMS.get(word, ())) if owner is not None
                  and isinstance(getattr(owner, other, None), property)]
    if attributes:
        return f"{text}; {attributes[0]!r} is an attribute of {owner.__name__}"  # type: ignore
    return f"{text}; it takes {_listed(names)}" if names else f"{text}; it takes none"


def _unbound(called: str, of: _Signature, args: Sequence[Any], kwargs: Mapping[str, Any],
             owner: Optional[type]) -> Optional[str]:
    """Python's message if arguments and parameters do not match, else None."""
    most = len(of.positional)
    if of.takes_any:
        return None
    for word in kwargs:
        if word not in [each.name for each in of.named]:
            return _unexpected(called, word, of, owner)
    for each in of.positional[of.only_positional:len(args)]:
        if each.name in kwargs:
            return f"{called}() got multiple values for argument {each.name!r}"
    if len(args) > most:
        least = sum(each.is_required for each in of.positional)
        takes = f"{most}" if least == most else f"from {least} to {most}"
        return (f"{called}() takes {takes} positional argument{'s' if most != 1 else ''} but "
                f"{len(args)} {'was' if len(args) == 1 else 'were'} given")
    for kind, missing in (
            ("positional", [each for each in of.positional[len(args):]]),
            ("keyword-only", of.keyword)):
        names = [repr(each.name) for each in missing
                 if each.is_required and each.name not in kwargs]
        if names:
            return (f"{called}() missing {len(names)} required {kind} argument"
                    f"{'s' if len(names) > 1 else ''}: {_listed(names)}")
    return None


def _class_of(name: str) -> Optional[type]:
    """The class that an annotation names; tensors of both modules are a Tensor."""
    from . import _core
    found = getattr(_core, {"Tensor": "_Tensor"}.get(name, name), None)
    return found if isinstance(found, type) else None


def _alternatives(annotation: ast.expr) -> List[ast.expr]:
    if isinstance(annotation, ast.BinOp):
        return _alternatives(annotation.left) + _alternatives(annotation.right)
    return [annotation]


def _fits(value: Any, wanted: ast.expr) -> bool:
    """False if the value cannot have the wanted type."""
    if isinstance(wanted, ast.Constant):
        return value is None or wanted.value is not None
    if value is None:
        return False
    name = wanted.id if isinstance(wanted, ast.Name) else ""
    if name in _KINDS:
        return hasattr(value, _KINDS[name][1]) or hasattr(value, "__index__")
    if name in ("bool", "str", "bytes"):
        return type(value).__name__ == name
    kind = _class_of(name)
    return kind is None or isinstance(value, kind)


def _shown(wanted: ast.expr) -> str:
    text = ast.unparse(wanted)
    if text in _KINDS:
        return _KINDS[text][0]
    if text.startswith("Sequence["):
        return "a sequence"
    name = text.rsplit(".", 1)[-1]
    return name if name == "None" else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _wrong_type(parameter: _Parameter, value: Any) -> Optional[str]:
    if parameter.annotation is None:
        return None
    wanted = _alternatives(parameter.annotation)
    if any(_fits(value, each) for each in wanted):
        return None
    if [ast.unparse(each) for each in wanted] == ["Any"]:
        return f"{parameter.name}: must not be None"
    kinds = [_shown(each) for each in wanted]
    text = kinds[0] if len(kinds) == 1 else ", ".join(kinds[:-1]) + " or " + kinds[-1]
    return f"{parameter.name}: must be {text}, not {type(value).__name__}"


def _misfit(of: _Signature, args: Sequence[Any], kwargs: Mapping[str, Any],
            owner: Optional[type]) -> Optional[str]:
    """The message for the first argument of a wrong type."""
    if owner is not None and args and not isinstance(args[0], owner):
        return _wrong_type(_Parameter("self", ast.Name(owner.__name__), True), args[0])
    by_name = {each.name: each for each in of.positional + of.keyword}
    given = [*zip(of.positional, args), *((by_name[name], kwargs[name]) for name in kwargs)]
    return next((text for text in (_wrong_type(*each) for each in given) if text), None)


def _name_of(function: Any, owner: Optional[type], args: Sequence[Any]) -> str:
    """The name as the program has written it: that of the class, or of a setter's property."""
    name: str = function.__name__
    if name == "__init__" and args:
        return type(args[0]).__name__
    if not name and owner is not None:
        return next((key for kind in owner.__mro__ for key, each in vars(kind).items()
                     if isinstance(each, property) and each.fset is function), name)
    return name


def explain(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Optional[str]:
    """Which argument does not fit in the call of a function of the extension; None: not known."""
    is_method = type(function).__name__ == "nb_method"
    owner = type(args[0]) if is_method and args else None
    home = _class_of((function.__qualname__ or "").split(".")[0]) if is_method else None
    signatures = [_signature(each[0]) for each in function.__nb_signature__]
    called = _name_of(function, owner, args)
    bound = [of for of in signatures if _unbound(called, of, args, kwargs, owner) is None]
    if not bound:
        return _unbound(called, signatures[0], args, kwargs, owner)
    texts = [text for text in (_misfit(of, args, kwargs, home) for of in bound) if text]
    if function.__name__ == "" and texts:  # the setter of a property has one value
        return texts[0].replace("arg:", f"{called}:", 1)
    return texts[0] if texts else None


def helpful(function: F) -> F:
    """Wraps the function: its TypeError then names the parameter that an unknown keyword may
    mean."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # raised inside
                raise
            text = _unknown(function, kwargs)
            if text is None:
                raise
            raise TypeError(text) from None

    return call  # type: ignore[return-value]


def _unknown(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> Optional[str]:
    """The message for the first keyword that the function does not have; None: it has all."""
    known = [_Parameter(name, None, False) for name in inspect.signature(function).parameters]
    owner, _, name = function.__qualname__.rpartition(".")
    called = owner if owner and name in ("__init__", "__call__") else name
    for word in kwargs:
        if word not in [each.name for each in known]:
            return _unexpected(called, word, _Signature(known, 0, [], False), None)
    return None

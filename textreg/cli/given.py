"""Options that come from somewhere, and which of them remain under others."""

from __future__ import annotations

from typing import Any, NamedTuple

from textreg.errors import UsageError
from textreg.plugins import registry
from textreg.training.recipe import as_text
from textreg.training.settings import PREFIXES, as_named, declared_settings
from textreg.training.space import parse_space

_INSTEAD = {
    "dev": ("holdout", "cv", "group_col", "time_col"),
    "holdout": ("dev", "cv"),
    "cv": ("dev", "holdout"),
    "group_col": ("dev", "time_col"),
    "time_col": ("dev", "group_col"),
    "text_col": ("field",),
}
"""What an option replaces beside itself, as they contradict each other."""


class Given(NamedTuple):
    """The value of an option, and the file that gives it."""

    value: Any
    file: str


Options = dict[str, Given]
"""Options by their names, with underscores for hyphens."""


def without(lower: Options, upper: Options) -> Options:
    """What remains of some options where others are given, too, with what depends on them.

    Another regularizer, say, comes without the parameters of the first, and its groups.
    """
    gone = {*upper, *(other for key in upper for other in _INSTEAD.get(key, ()))}
    space = _space(lower.get("search_space"))
    gone |= {*_space(upper.get("search_space"))}
    for key in PREFIXES:
        usual = declared_settings()[key].default
        if key in upper and _short(upper[key].value) != _short(
            lower.get(key, Given(usual, "")).value
        ):
            gone |= {one for one in lower if one.startswith(f"{key}_")}
            if key == "reg" and lower:
                gone |= _unused(upper[key].value, lower)
            gone |= {one for one in space if one.startswith(f"{key}_")}
    left = {key: it for key, it in lower.items() if key not in gone}
    if "search_space" in left:
        searched = {key: values for key, values in space.items() if key not in gone}
        left["search_space"] = lower["search_space"]._replace(value=searched)
    return left


def _space(it: Given | None) -> dict[str, Any]:
    """A search space as a mapping, though it may be a list of texts."""
    if it is None:
        return {}
    if isinstance(it.value, dict):
        return {key_of_flag(key): values for key, values in it.value.items()}
    return dict(parse_space(texts_of(it, "search_space")))


def _short(name: Any) -> Any:
    """The name of a part without what it comes from."""
    return name.rpartition(":")[2] if isinstance(name, str) else name


def _unused(name: str, options: Options) -> set[str]:
    """Those options of builders, and of documents for these, that a regularizer has no use for."""
    needs = registry.find("regularizer", as_named("reg", name)).needs
    used = {"groups": ("groups",), "graph": ("graph", "groups")}.get(needs, ())
    unused = {key for key in ("groups", "graph") if key not in used}
    more = {one for one in options if one.startswith(tuple(f"{key}_" for key in unused))}
    return unused | more | ({"unlabeled"} if "graph" in unused else set())


def texts_of(it: Given, key: str, most: int | None = None) -> list[str]:
    """The texts or numbers of an option as texts: one of them, or a list."""
    listed = it.value if isinstance(it.value, (list, tuple)) and most is None else [it.value]
    if not all(isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in listed):
        raise wrong(key, it, "a text or a number" + ("" if most else ", or a list of them"))
    return [as_text(one) for one in listed]


def wrong(key: str, it: Given, expected: str) -> UsageError:
    flag = key.replace("_", "-")
    own = f' Parameters of a part stand beside it: {flag} = "NAME" and {flag}-PARAMETER = ...'
    more = own if isinstance(it.value, dict) and key in PREFIXES else ""
    return UsageError(f"{it.file}: {flag} is {expected}, not {it.value!r:.60}.{more}")


def key_of_flag(flag: str) -> str:
    """The name of an option, from its flag or from how a file spells it."""
    return flag.lstrip("-").replace("-", "_")

"""Faults to plant in Python source: a wrong sign, an off by one, a dropped factor, and so on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS: dict[type[ast.AST], list[ast.AST]] = {
    ast.Add: [ast.Sub()],
    ast.Sub: [ast.Add()],
    ast.And: [ast.Or()],
    ast.Or: [ast.And()],
    ast.Eq: [ast.NotEq()],
    ast.NotEq: [ast.Eq()],
    ast.In: [ast.NotIn()],
    ast.NotIn: [ast.In()],
    ast.Is: [ast.IsNot()],
    ast.IsNot: [ast.Is()],
    ast.Lt: [ast.GtE(), ast.LtE()],
    ast.LtE: [ast.Gt(), ast.Lt()],
    ast.Gt: [ast.LtE(), ast.GtE()],
    ast.GtE: [ast.Lt(), ast.Gt()],
}
PAIRS = ("min max", "any all", "minimum maximum", "argmin argmax")
FUNCTIONS = dict(pair.split() for pair in PAIRS) | dict(pair.split()[::-1] for pair in PAIRS)
UNWRAPPED = {"sorted": "list", "reversed": "list", "abs": "", "clip": "", "sort": "", "cumsum": ""}
FACTORS = ("weight", "scale", "shift", "offset")
SKIPPED_FUNCTIONS = {"__repr__", "__str__", "_repr_html_"}
SKIPPED_CALLS = {"warn", "echo", "debug", "info", "warning", "error", "exception"}
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "bases"}
SKIPPED_NODES = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
NO_LOCK = '__import__("contextlib").nullcontext()'


class Fault(NamedTuple):
    """Part of the source, and the text to put in its place."""

    statement: int
    """The lines where the statement starts, and the part."""
    line: int
    end: int
    in_function: bool
    text: str
    """Of the first line: what finds the fault again when lines move."""
    before: str
    after: str
    place: slice

    def plant(self, source: bytes) -> bytes:
        return source[: self.place.start] + self.after.encode() + source[self.place.stop :]


def faults(source: bytes) -> Iterator[Fault]:
    """All that can be planted, in the order of the source."""
    starts, texts = [0], source.splitlines(keepends=True)
    for text in texts:
        starts.append(starts[-1] + len(text))
    for node, statement, in_function in _expressions(ast.parse(source), 0, False):
        end = node.end_lineno or node.lineno
        start = starts[node.lineno - 1] + node.col_offset
        place = slice(start, starts[end - 1] + (node.end_col_offset or 0))
        text, before = texts[node.lineno - 1].decode().strip(), source[place].decode()
        for after in _changes(node):
            yield Fault(statement, node.lineno, end, in_function, text, before, after, place)


def _expressions(
    node: ast.AST, statement: int, in_function: bool
) -> Iterator[tuple[ast.expr, int, bool]]:
    """Those that compute, with their statement's line; none of annotations and messages."""
    called = _name(node.func) if isinstance(node, ast.Call) else ""
    function = node.name if isinstance(node, ast.FunctionDef) else ""
    if isinstance(node, SKIPPED_NODES) or called in SKIPPED_CALLS or function in SKIPPED_FUNCTIONS:
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        return  # a limit, such as 1 << 20
    if isinstance(node, ast.keyword) and node.arg in {"help", "stacklevel", "strict"}:
        return
    if isinstance(node, ast.stmt):
        statement = node.lineno
    if isinstance(node, ast.expr):
        yield node, statement, in_function
    for field, value in ast.iter_fields(node):
        inside = in_function or (bool(function) and field == "body")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in SKIPPED_FIELDS:
                yield from _expressions(child, statement, inside)


def _changes(node: ast.expr) -> Iterator[str]:
    """The texts of the faults that may stand where ``node`` does."""
    match node:
        case ast.BinOp(left, op, right) if not (_is_text(left) or _is_text(right)):
            for other in OPERATORS.get(type(op), []):
                yield _with(node, op=other)
            if isinstance(op, (ast.Mult, ast.Div)):
                yield f"({ast.unparse(left)})"
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield f"({ast.unparse(node.operand)})"
        case ast.Compare(ops=[op]):
            for other in OPERATORS[type(op)]:
                yield _with(node, ops=[other])
        case ast.BoolOp(op=op):
            yield _with(node, op=OPERATORS[type(op)][0])
        case ast.IfExp(body=body, orelse=orelse):
            yield _with(node, body=orelse, orelse=body)
        case ast.Constant(value=0 | 1 | 2 | 0.5 as value):  # others are limits and tolerances
            yield repr(not value if isinstance(value, bool) else value + 1)
        case ast.Call():
            yield from _changed_calls(node)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) if f"_{_name(node)}".endswith(
            "_lock"
        ):
            yield NO_LOCK


def _changed_calls(node: ast.Call) -> Iterator[str]:
    name, arguments = _name(node.func), node.args
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in FUNCTIONS:
        other = FUNCTIONS[name]
        yield _with(node, func=ast.Attribute(owner, other) if owner else ast.Name(other))
    if name in UNWRAPPED and (arguments or owner):
        of_array = owner is not None and _name(owner) != "np"
        yield f"{UNWRAPPED[name]}({ast.unparse(owner if of_array else arguments[0])})"
    if name == "range":
        shorter = ast.BinOp(arguments[-1], ast.Sub(), ast.Constant(1))
        yield _with(node, args=[*arguments[:-1], shorter])
    named = {type(it) for it in arguments[:2]} <= {ast.Name, ast.Attribute}
    differ = len({ast.unparse(it) for it in arguments[:2]}) == 2
    if named and differ and name not in {*FUNCTIONS, "isinstance", "range"}:
        yield _with(node, args=[arguments[1], arguments[0], *arguments[2:]])
    for keyword in node.keywords:
        if any(factor in (keyword.arg or "") for factor in FACTORS):
            yield _with(node, keywords=[it for it in node.keywords if it is not keyword])


def _is_text(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple))


def _name(node: ast.AST) -> str:
    """The last part of ``a.b.name``."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _with(node: ast.expr, **fields: object) -> str:
    """The text of the node with other fields."""
    return f"({ast.unparse(type(node)(**{**vars(node), **fields}))})"

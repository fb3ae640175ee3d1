"""The one place where parts are called: tokenizers, builders, regularizers, losses, exporters.

Results are checked against what the kind promises: types, shapes and finite numbers, at a cost far
below that of the call. Third-party parts are also given read-only arrays, and their tokens are
checked one by one. Whatever is wrong becomes a :class:`~textreg.errors.BrokenPluginError` that
names the part and its distribution, what was expected and what it returned.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import fields, is_dataclass, replace
from functools import cache
from math import inf, isfinite, isnan
from threading import get_ident
from typing import Any, TypeVar, cast

import numpy as np

from textreg import kinds, records
from textreg.errors import BrokenPluginError, UsageError
from textreg.isolation import blaming, contained, raised_by, shown
from textreg.plugins import registry
from textreg.plugins.registry import ours
from textreg.records import Floats, Int64s, plain_model
from textreg.records.arrays import read_only
from textreg.records.documents import check_texts
from textreg.records.problem import Support
from textreg.structure.joining import CallableTokenizer, JoinedBuilder, Pretokenized

S = TypeVar("S", records.Solution, records.MultiSolution)
T = TypeVar("T")
_END: Any = object()
# A plugin for messages: an instance or its class.
Part = kinds.Plugin | type[kinds.Plugin]
# The third-party part that is called in each thread, and for what.
_running: dict[int, tuple[Part, str]] = {}


def encode(
    tokenizer: kinds.Tokenizer, documents: records.Documents, *, spans: bool = False
) -> records.Tokens:
    """``tokenizer.encode``: tokens of all documents, with character offsets if ``spans``.

    The documents must be texts, except for :class:`~textreg.structure.joining.Pretokenized`.
    """
    texts: Sequence[Any]
    texts = list(documents) if isinstance(tokenizer, Pretokenized) else check_texts(documents)
    strange = contained() if isinstance(tokenizer, CallableTokenizer) else nullcontext()
    with strange, _blaming(tokenizer, "encode"):
        passed_texts = texts if ours(tokenizer) else list(texts)
        tokens = tokenizer.encode(passed_texts, spans=spans)
    tokens = _rebuilt(tokenizer, "encode", records.Tokens, "Tokens", tokens)
    if (n := tokens.n_documents) != len(texts):
        raise _wrong(tokenizer, "encode", f"{len(texts)} documents", f"{n}")
    if spans:
        sizes = {"spans": len(tokens.ids), "sentence_spans": tokens.n_sentences}
        for name, size in sizes.items():
            _require_array(
                tokenizer, f"encode, {name},", getattr(tokens, name), np.int32, (size, 2)
            )
    if not ours(tokenizer):
        _check_names(tokenizer, tokens)
        if spans:
            _check_spans(tokenizer, texts, tokens)
    return tokens


def encode_lines(tokenizer: kinds.Tokenizer, lines: Sequence[str]) -> records.Tokens:
    """Tokens of lines that a user wrote, such as stop words; of lists of tokens, a line is one."""
    if isinstance(tokenizer, Pretokenized):
        return encode(tokenizer, [[line.strip()] for line in lines])
    return encode(tokenizer, lines)


def build_groups(builder: kinds.GroupBuilder, tokens: records.Tokens) -> records.Groups:
    """``builder.build``: groups over the features of ``tokens``."""
    if isinstance(builder, JoinedBuilder):
        parts = [build_groups(part, tokens) for part in builder.parts]
        return builder.joined(parts, tokens.without_texts())
    tokens = _as_asked(builder, tokens)
    groups = _rebuilt(builder, "build", records.Groups, "Groups", _called(builder, "build", tokens))
    if groups.n_features != tokens.n_columns:  # only groups of fields are of columns beyond
        _require_features(builder, groups.n_features, tokens)
    return groups


def build_graph(
    builder: kinds.GraphBuilder, tokens: records.Tokens, groups: records.Groups | None = None
) -> records.Graph:
    """``builder.build``, or ``builder.build_from`` if the user named a group builder."""
    tokens = _as_asked(builder, tokens)
    if groups is None:
        doing, graph = "build", _called(builder, "build", tokens)
    else:
        doing, graph = "build_from", _called(builder, "build_from", tokens, groups)
    graph = _rebuilt(builder, doing, records.Graph, "a Graph", graph)
    _require_features(builder, graph.n_features, tokens)
    return graph


def _as_asked(
    builder: kinds.GroupBuilder | kinds.GraphBuilder, tokens: records.Tokens
) -> records.Tokens:
    """The tokens with texts and spans where a builder asks for them, and else without."""
    if not builder.wants_texts:
        return tokens.without_texts()
    if tokens.texts is None:
        raise UsageError(
            f"{builder.label()} reads the texts, and there are none here: give documents that are "
            "texts, not lists of tokens, several columns or a matrix, or leave it out."
        )
    if tokens.locate is None:
        return tokens
    try:
        located = tokens.locate(tokens.texts)
    except UsageError as error:
        raise UsageError(f"{builder.label()} needs places in the texts: {error}") from None
    return replace(tokens, locate=None, spans=located.spans, sentence_spans=located.sentence_spans)


def export(exporter: kinds.Exporter, model: plain_model.PlainModel) -> bytes:
    """``exporter.export``: the content of a file."""
    content: bytes = _called(exporter, "export", model)
    got = "none" if content == b"" else _type_of(content)
    valid = isinstance(content, bytes) and bool(content)
    _require(exporter, "export", valid, "bytes, one at least", got)
    return content


def rows_of_vectors(
    table: kinds.WordVectors, wanted: Callable[[int, str], bool]
) -> tuple[list[str], Floats]:
    """``table.rows``: words, and a finite vector of each."""
    with _blaming(table, "rows"):  # also for what is no pair, or has no length
        words, vectors = table.rows(wanted)
        right = np.ndim(vectors) == 2 and len(words) == len(vectors)
        right &= all(isinstance(it, str) for it in words) and bool(np.isfinite(vectors).all())
    _require(table, "rows", right, "words, and a finite vector of each", shown((words, vectors)))
    return words, vectors


@contextmanager
def workers(backend: kinds.Backend, *arguments: Any) -> Iterator[kinds.Workers]:
    """``backend.open``: the workers, as long as they are needed, and blamed for what they raise."""
    try:
        with ExitStack() as stack:
            with _blaming(backend, "open"):
                opened = stack.enter_context(backend.open(*arguments))
            _require(backend, "open", isinstance(opened, kinds.Workers), "Workers", opened)
            yield opened
    except BaseException as error:
        theirs = not ours(backend) and raised_by(type(backend).__module__, error)
        with _blaming(backend, "its workers") if theirs else nullcontext():
            raise


def candidates(part: kinds.Regularizer, problem: records.Problem) -> list[kinds.Regularizer]:
    """``part.candidates``: at least one version of it, without AUTO parameters, each once.

    Where no feature tells anything, all strengths are zero.
    """
    with _blaming(part, "candidates"):
        grid = list(part.candidates(_handed(part, problem)))
    for candidate in grid:
        known = isinstance(candidate, kinds.Regularizer)
        _require(part, "candidates", known, "regularizers", candidate)
        left = ", ".join(candidate.undecided())
        _require(part, "candidates", not left, "parameters that are decided", f"{left} open")
    _require(part, "candidates", bool(grid), "one at least", "none")
    return list(dict.fromkeys(grid))


def scale(part: kinds.Regularizer, problem: records.Problem, parameter: str) -> float:
    """``part.scale``: the value of ``parameter`` at which every weight is zero."""
    value = _called(part, "scale", problem, parameter)
    _require_number(part, "scale", value)
    return float(value)


def solve(part: kinds.Regularizer, problem: records.Problem) -> records.Solution:
    """``part.solve``: the weights for one problem."""
    return _claimed(part, "solve", problem, _called(part, "solve", problem))


def solves_together(part: kinds.Regularizer) -> bool:
    """Whether its class says how it solves several problems.

    One that overrides ``solve`` alone does not mean what its base does with several.
    """
    bases = type(part).__mro__
    several, one = (
        next(base for base in bases if name in vars(base)) for name in ("solve_each", "solve")
    )
    return several is not kinds.Regularizer and bases.index(several) <= bases.index(one)


def solve_each(
    part: kinds.Regularizer, problems: Sequence[records.Problem]
) -> list[records.Solution]:
    """``part.solve_each``: the weights for several problems of the same documents."""
    if not solves_together(part):
        return [solve(part, problem) for problem in problems]
    solutions = _called(part, "solve_each", tuple(problems))
    _require_list(part, "solve_each", solutions, len(problems), "solutions, one a problem")
    pairs = zip(problems, solutions, strict=True)
    return [_claimed(part, "solve_each", problem, solution) for problem, solution in pairs]


def objective(part: kinds.Regularizer, problem: records.Problem, w: Floats, b: float) -> float:
    """``part.objective``: what its solution minimizes, at any weights."""
    value = _called(part, "objective", problem, w, b)
    if value != inf:  # that of weights which are not allowed
        _require_number(part, "objective", value)
    return float(value)


# Methods by which a regularizer says something of itself or of a solution, and what that is.
_SAID: dict[str, Any] = {"fits_blocks": object, "rivals": list | tuple, "support": Support | None}


def answer(part: kinds.Regularizer, question: str, *arguments: Any) -> Any:
    """What one of these methods says."""
    said = _called(part, question, *arguments)
    _require(part, question, isinstance(said, _SAID[question]), f"{_SAID[question]}", said)
    return said


def parts(
    part: kinds.Regularizer, w: Floats, groups: records.Groups, selected: Sequence[int]
) -> list[Floats]:
    """``part.parts``: for every selected group the weights of its part."""
    arrays: list[Floats] = _called(part, "parts", w, groups, selected)
    _require_list(part, "parts", arrays, len(selected), "arrays, one a group")
    for g, weights in zip(selected, arrays, strict=True):
        _require_array(part, "parts", weights, np.float64, groups.members(g).shape)
    return arrays


def solve_softmax(
    part: kinds.Regularizer,
    problem: records.Problem,
    codes: Int64s,
    start: tuple[Floats, Floats] | None = None,
) -> records.MultiSolution:
    """``part.solve_softmax``: the weights for all classes together."""
    solution: records.MultiSolution = _called(part, "solve_softmax", problem, codes, start)
    shape = int(codes.max()) + 1, problem.design.shape[1]
    return _checked(part, "solve_softmax", records.MultiSolution, solution, shape)


def path(
    chain: Sequence[kinds.Regularizer], problem: records.Problem, stopped: Callable[[], bool]
) -> Iterator[records.Solution]:
    """Solutions of the regularizers ``chain``, by ``path`` of the first.

    stopped: whether the callback asked it to stop, after which some may be missing.
    """
    part, count = chain[0], 0
    # The default path calls solve, so faults are those of solve.
    doing = "solve" if type(part).path is kinds.Regularizer.path else "path"
    with _blaming(part, doing):
        items = iter(part.path(_handed(part, problem), chain))
    while True:
        with _blaming(part, doing):  # and not the caller, who has each solution between two steps
            item: Any = next(items, _END)
        if item is _END:
            break
        pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], kinds.Regularizer)
        _require(part, doing, pair, "pairs of a regularizer and its solution", item)
        due = item[0] in chain[count : count + 1]
        _require(part, doing, due, "the settings in their order", shown(item[0]))
        count += 1
        yield _claimed(item[0], doing, problem, item[1])
    if count != len(chain) and not stopped():
        raise _wrong(part, doing, f"{len(chain)} solutions, one a setting", f"{count}")


def guarded(loss: kinds.Loss) -> kinds.Loss:
    """A loss to put into a problem, whose faults become BrokenPluginErrors that name it.

    Solvers call the methods of a loss, so without this its faults would be taken for those of the
    regularizer. One of textreg's own is returned as it is.
    """
    return loss if ours(loss) else _guarded_class(type(loss))(**loss.params())


@cache
def _guarded_class(cls: type[kinds.Loss]) -> type[kinds.Loss]:
    """A subclass with the class's own methods guarded, so that ``isinstance`` still holds."""
    methods = (name for name in _OF_LOSSES if getattr(cls, name) is not getattr(kinds.Loss, name))
    body: dict[str, Any] = {name: _guarded(cls, name) for name in methods}
    # pickle looks classes up by their names, and this one has none of its own.
    body["__reduce__"] = lambda self: (guarded, (cls(**self.params()),))
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, **body})


# The methods of a loss, and which of their arguments they write to.
_OF_LOSSES = (
    *("value", "derivatives", "curvature_bound", "curvature_above", "dual_value", "balance"),
    *("constant", "unsmoothed_value"),
)
_WRITTEN: dict[str, tuple[int, ...]] = {"derivatives": (3, 4), "balance": (0,)}


def _guarded(cls: type[kinds.Loss], name: str) -> Callable[..., Any]:
    """A method of a loss; arrays that it must not write to are sealed, and results are numbers."""
    method, written = getattr(cls, name), _WRITTEN.get(name, ())

    def call(self: kinds.Loss, *arrays: Floats) -> Any:
        inputs = [array if at in written else sealed(array) for at, array in enumerate(arrays)]
        with _blaming(cls, name, often=True):
            result = method(self, *inputs)
            if isinstance(result, int):
                result = float(result)
        outputs = [arrays[at] for at in written]
        if name.startswith("curvature"):
            _require_array(cls, name, result, np.float64, arrays[0].shape)
            outputs.append(result)
        elif name != "balance":
            real = isinstance(result, (float, int, np.floating, np.integer))
            _require(cls, name, real and not isnan(result), "a number", "NaN" if real else result)
        finite = all(bool(np.isfinite(array).all()) for array in outputs)
        _require(cls, name, finite, "finite numbers", "NaN or infinite ones")
        return result

    return call


def _advice(part: Part) -> str:
    info = registry.provider(part)
    if ours(part):
        return "This is a bug in textreg: please report it with the output of --debug."
    if info is None or not info.distribution:
        return "Fix it; --debug shows its traceback."
    return (
        f"Update it (pip install -U {info.distribution}), use another, or send its author the "
        "output of --debug."
    )


@contextmanager
def _blaming(part: Part, doing: str, *, often: bool = False) -> Iterator[None]:
    """BrokenPluginErrors for what a part raises; ``often`` where a solver calls it in a loop."""
    own = ours(part)
    here = get_ident()
    if not (own or often):
        _running[here] = part, doing
    try:
        who, advice = (lambda: registry.who(part)), (lambda: _advice(part))
        with blaming(who, doing, advice, own=own, often=often):
            yield
    except KeyboardInterrupt:
        raise  # and leave its name for the message
    except BaseException:
        _running.pop(here, None)
        raise
    _running.pop(here, None)


def interrupted() -> str:
    """Which third-party part was running in some thread when Ctrl-C came; empty if none was."""
    running = [f"{doing} of {registry.who(part)}" for part, doing in _running.values()]
    _running.clear()
    return running[0] if running else ""


def _called(part: kinds.Plugin, doing: str, *arguments: Any) -> Any:
    """What a method of a part gives for these arguments, which are read-only for a stranger."""
    handed = [_handed(part, argument) for argument in arguments]
    with _blaming(part, doing):
        return getattr(part, doing)(*handed)


def _handed(part: kinds.Plugin, value: Any) -> Any:
    """An argument for a part: the same, but read-only unless the part is textreg's own."""
    if ours(part):
        return value
    if isinstance(value, records.Problem) and not value.design.blocks:
        _ = value.X  # by rows, once: what a sealed copy derives is lost with it
    return sealed(value)


def sealed(value: Any) -> Any:
    """An array, or a record with all of its arrays, that cannot be written to; no copy is made.

    It stops NumPy, SciPy and Cython, and no other code in C. A list of names is copied.
    """
    from scipy.sparse import issparse

    if isinstance(value, np.ndarray):
        return read_only(value)
    if type(value) is list:
        return list(value)
    if type(value) is tuple:
        return tuple(map(sealed, value))
    if isinstance(value, type) or not (issparse(value) or is_dataclass(value)):
        return value
    other = copy.copy(value)
    # Frozen records would refuse; their fields are valid, and cached ones are among them.
    other.__dict__.update({key: sealed(field) for key, field in vars(value).items()})
    return other


def _rebuilt(part: kinds.Plugin, doing: str, kind: type[T], wanted: str, record: Any) -> T:
    """A record of a third-party part, made anew: its checks hold, whatever was done to it since."""
    _require(part, doing, isinstance(record, kind), wanted, _type_of(record))
    if ours(part):
        return cast("T", record)
    with _blaming(part, doing):
        values = {field.name: getattr(record, field.name) for field in fields(record) if field.init}
        for name in ("names", "vocabulary"):  # which may be lazy, and then those of textreg only
            if values.get(name) is not None and not ours(values[name]):
                values[name] = list(map(str, values[name]) if name == "names" else values[name])
        return kind(**values)


def _require(part: Part, doing: str, holds: bool, wanted: str, got: Any) -> None:
    """BrokenPluginError unless it holds."""
    if not holds:
        raise _wrong(part, doing, wanted, got)


def _wrong(part: Part, doing: str, wanted: str, got: Any) -> BrokenPluginError:
    """The error for a wrong result; ``got`` is the result, or a description of it."""
    got = got if isinstance(got, str) else _type_of(got)
    cause = f"{doing} must give {wanted}, not {got}"
    return BrokenPluginError(f"{registry.who(part)} is broken: {cause}. {_advice(part)}", cause)


def _type_of(result: Any) -> str:
    return "None" if result is None else f"of the type {type(result).__name__}"


def _require_list(part: Part, doing: str, items: Any, size: int, what: str) -> None:
    """BrokenPluginError unless it is a list of this size; ``what``: its items, one a reason."""
    _require(part, doing, isinstance(items, list), f"a list of {what.partition(',')[0]}", items)
    _require(part, doing, len(items) == size, f"{size} {what}", f"{len(items)}")


def _require_array(
    part: Part, doing: str, array: Any, kind: type, shape: tuple[int, ...] | None = None
) -> None:
    """BrokenPluginError unless it is an array of this type and shape (default: one dimension)."""
    if isinstance(array, np.ndarray):
        if array.dtype == kind and (array.ndim == 1 if shape is None else array.shape == shape):
            return
        array = f"{array.dtype} {array.shape}"
    size = "" if shape is None else f" of the shape {shape}"
    raise _wrong(part, doing, f"an array of {np.dtype(kind)}{size}", array)


def _require_features(builder: kinds.Plugin, n_features: int, tokens: records.Tokens) -> None:
    if n_features != (size := len(tokens.vocabulary)):
        raise _wrong(builder, "build", f"{size} features", f"{n_features}")


def _check_names(tokenizer: kinds.Tokenizer, tokens: records.Tokens) -> None:
    """Check the vocabulary of a third-party tokenizer: non-empty texts, each once."""
    for name in tokens.vocabulary:
        if not isinstance(name, str) or not name:
            wanted = "texts as tokens, none of them empty"
            raise _wrong(tokenizer, "encode", wanted, shown(name))
    if repeated := len(tokens.vocabulary) - len(set(tokens.vocabulary)):
        raise _wrong(tokenizer, "encode", "each name once", f"{repeated} of them again")


def _check_spans(tokenizer: kinds.Tokenizer, texts: Sequence[str], tokens: records.Tokens) -> None:
    """Check the offsets of a third-party tokenizer, which must lie inside of their texts."""
    lengths = np.array([len(text) for text in texts])
    per_document = {
        "spans": np.diff(tokens.token_document_ptr),
        "sentence_spans": np.diff(tokens.document_ptr),
    }
    for name, counts in per_document.items():
        start, end = getattr(tokens, name).T
        document = np.repeat(np.arange(len(texts)), counts)
        wrong = (start < 0) | (start > end) | (end > lengths[document])
        if wrong.any():
            at = int(np.argmax(wrong))
            got = f"({start[at]}, {end[at]}) in a text of {lengths[document[at]]} characters"
            raise _wrong(tokenizer, f"encode, {name},", "offsets inside of the text", got)


def _checked(part: kinds.Plugin, doing: str, kind: type[S], fit: S, shape: tuple[int, ...]) -> S:
    """A solution with finite weights of this shape; its record has checked the types."""
    fit = _rebuilt(part, doing, kind, f"a {kind.__name__}", fit)
    _require_array(part, f"{doing}, w,", fit.w, np.float64, shape)
    for name, value in (("w", fit.w), ("b", fit.b), ("objective", fit.objective)):
        if np.ndim(value) == 0:
            _require_number(part, f"{doing}, {name},", value)
        elif bad := np.count_nonzero(~np.isfinite(value)):
            got = f"{bad} that are NaN or infinite"
            raise _wrong(part, f"{doing}, {name},", "finite numbers", got)
    for report in (fit.report,) if isinstance(fit, records.Solution) else fit.reports:
        _require_report(part, doing, report, shape[-1])
    return fit


# Share by which the objective of a converged solution without a gap may exceed one nearby. It is
# above the tolerance of a search, as procedures measure how far they are in ways of their own.
_CONVERGED = 5e-2


def _claimed(
    part: kinds.Regularizer, doing: str, problem: records.Problem, fit: records.Solution
) -> records.Solution:
    """A checked solution. Of a stranger, one proximal gradient step must not refute its claims."""
    fit = _checked(part, doing, records.Solution, fit, (problem.design.shape[1],))
    states = hasattr(part, "penalty") or type(part).objective is not kinds.Regularizer.objective
    overrides = type(part).solve is not kinds.Penalized.solve  # else it is textreg that says so
    claims = (fit.converged and overrides) or not isnan(fit.gap)
    if ours(part) or not (states and part.minimizes and claims):
        return fit
    prox = None
    if hasattr(part, "penalty"):
        prox = getattr(_called(part, "penalty", problem), "prox", None)
    r, h = np.empty((2, len(problem.y)))
    z = problem.design.product(fit.w) + fit.b
    problem.loss.derivatives(z, problem.y, problem.sample_weight, r, h)
    move = -problem.design.transposed_product(r)
    if prox is None:
        move[fit.w == 0.0] = 0.0  # where the penalty may have a kink
    curvature = float(h @ problem.design.product(move) ** 2)
    step = float(move @ move) / curvature if curvature > 0.0 else 0.0  # the best for the loss alone
    share = max(_CONVERGED, 10.0 * problem.tol) if isnan(fit.gap) else fit.gap
    bound = fit.objective - (share + 1e-9) * abs(fit.objective)
    for length in (step, 0.1 * step) if step > 0.0 else ():
        w = fit.w + length * move
        with _blaming(part, "penalty"):
            w = w if prox is None else prox(w, length)
        if (value := objective(part, problem, w, fit.b)) < bound:
            claim = "a converged solution" if isnan(fit.gap) else f"a gap of {fit.gap:.2g}"
            reached = f"an objective of {fit.objective:.6g}: one step downhill has {value:.6g}"
            raise _wrong(part, doing, f"what it claims, {claim}", reached)
    return fit


def _require_report(part: kinds.Plugin, doing: str, report: Any, features: int) -> None:
    """Check a report: None or a SolverReport, whose order consists of features."""
    known = report is None or isinstance(report, records.SolverReport)
    _require(part, f"{doing}, report,", known, "None or a SolverReport", report)
    for j in report.order if isinstance(report, records.SelectionReport) else ():
        if not isinstance(j, (int, np.integer)) or not 0 <= j < features:
            wanted = f"indices of {features} features"
            raise _wrong(part, f"{doing}, report.order,", wanted, shown(j))


def _require_number(part: kinds.Plugin, doing: str, value: Any) -> None:
    """BrokenPluginError unless it is a finite number."""
    real = isinstance(value, (float, int, np.floating, np.integer))
    got = f"{value}" if real else value
    _require(part, doing, real and isfinite(value), "a finite number", got)

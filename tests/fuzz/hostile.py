"""Plugins in one file each, right but for one misdeed, made from a catalogue.

A misdeed is Python code that is put at a place of a right plugin of some kind. ``EXPECTED`` of it:
``stopped`` (an error that names the file, nothing written), ``harmless`` (the model that the right
plugin gives), or ``either`` (one of the two, or another model that can be loaded).
"""

from __future__ import annotations

from typing import NamedTuple

HEAD = """\
import atexit, gc, locale, logging, os, random, signal, subprocess, sys, threading, time, warnings
import click
import numpy as np
from scipy.sparse import csr_array
from textreg import errors, losses
from textreg.errors import *
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Penalized, Regularizer, Tokenizer
from textreg.params import AUTO, Choices, LogGrid, param
from textreg.penalties import Separable, soft
from textreg.records import Graph, Groups, Problem, Solution, Tokens
from textreg.solvers.newton import newton

CALLS = []
HOSTILE = bool(os.environ.get("HOSTILE"))
def boom(*_, **__): raise RuntimeError("odd fails")
class Odder(BaseException): pass
class Mute(Exception):
    def __str__(self): raise RuntimeError("no message")
class Number(Exception):
    def __str__(self): return 3
class MuteData(DataError):
    def __str__(self): raise SystemExit
class Fine(DataError): exit_code = 0
def recurse(): return recurse()
"""

TAIL = """
@hookimpl
def {hook}():
    if HOSTILE:
        {in_hook}
    return [Odd]
if HOSTILE:
    {at_import}
"""

HOOKS = {
    "tokenizer": "textreg_tokenizers",
    "groups": "textreg_group_builders",
    "graph": "textreg_graph_builders",
    "regularizer": "textreg_regularizers",
    "penalized": "textreg_regularizers",
    "searched": "textreg_regularizers",
    "loss": "textreg_losses",
}

CLASSES = {
    "tokenizer": """
class Odd(Tokenizer):
    '''Words between blanks.'''
    name = "odd"
    def encode(self, texts, *, spans=False):
        if HOSTILE:
            {in_call}
        result = super().encode(texts, spans=spans)
        if HOSTILE:
            {on_result}
        return result
    def __call__(self, text):
        if HOSTILE:
            {in_loop}
        return [text.split()]
""",
    "groups": """
class Odd(GroupBuilder):
    '''Words of the same first letter.'''
    name = "odd"
    def build(self, tokens):
        if HOSTILE:
            {in_call}
        firsts = sorted({{word[0] for word in tokens.vocabulary}})
        members = [[j for j, word in enumerate(tokens.vocabulary) if word[0] == first]
                   for first in firsts]
        if HOSTILE:
            {in_loop}
        result = Groups(
            indptr=np.cumsum([0, *map(len, members)]),
            indices=np.concatenate(members).astype(np.int32),
            weights=np.ones(len(members)),
            n_features=len(tokens.vocabulary),
            names=firsts,
        )
        if HOSTILE:
            {on_result}
        return result
""",
    "graph": """
class Odd(GraphBuilder):
    '''Each word and the next one.'''
    name = "odd"
    def build(self, tokens):
        if HOSTILE:
            {in_call}
        p = len(tokens.vocabulary)
        links = csr_array((np.ones(p - 1), (np.arange(p - 1), np.arange(1, p))), shape=(p, p))
        if HOSTILE:
            {in_loop}
        result = Graph(links)
        if HOSTILE:
            {on_result}
        return result
""",
    "regularizer": """
class Odd(Regularizer):
    '''The lasso.'''
    name = "odd"
    strength: float = param(default=0.05, min=0, help="penalty strength")
    def solve(self, problem):
        if HOSTILE:
            {in_call}
        result = newton(problem, Separable.constant(problem.X.shape[1], l1=self.strength))
        if HOSTILE:
            {in_loop}
        if HOSTILE:
            {on_result}
        return result
""",
    "penalized": """
class Penalty:
    def __init__(self, strength): self.strength = strength
    def value(self, w):
        return self.strength * float(np.abs(w).sum())
    def prox(self, w, step):
        if HOSTILE:
            {in_loop}
        result = soft(w, step * self.strength)
        if HOSTILE:
            {on_result}
        return result
class Odd(Penalized):
    '''The lasso, by its prox.'''
    name = "odd"
    strength: float = param(default=0.05, min=0, help="penalty strength")
    def penalty(self, problem):
        if HOSTILE:
            {in_call}
        return Penalty(self.strength)
""",
    "searched": """
class Odd(Regularizer):
    '''The lasso, of a strength that is searched.'''
    name = "odd"
    strength: float = param(default=AUTO, min=0, search=LogGrid(0.01, 0.1, 3), help="strength")
    def scale(self, problem, parameter):
        if HOSTILE:
            {in_call}
        return super().scale(problem, parameter)
    def solve(self, problem):
        return newton(problem, Separable.constant(problem.X.shape[1], l1=self.strength))
    def path(self, problem, candidates=None):
        for part, result in super().path(problem, candidates):
            if HOSTILE:
                {in_loop}
            if HOSTILE:
                {on_result}
            yield part, result
""",
    "loss": """
class Odd(losses.Logistic):
    '''The logistic loss.'''
    name = "odd"
    def value(self, z, y, c):
        result = super().value(z, y, c)
        if HOSTILE:
            {on_result}
        return result
    def derivatives(self, z, y, c, r, h):
        if HOSTILE:
            {in_call}
        result = super().derivatives(z, y, c, r, h)
        if HOSTILE:
            {on_result}
        return result
    def dual_value(self, alpha, y, c):
        if HOSTILE:
            {in_loop}
        return super().dual_value(alpha, y, c)
""",
}

OPTIONS = {
    "tokenizer": "--tokenizer odd --reg lasso --reg-l1 0.05",
    "groups": "--groups odd --reg group --reg-group 0.02 --reg-l1 0.02",
    "graph": "--graph odd --reg network --reg-beta 0.1 --reg-alpha 0.1",
    "regularizer": "--reg odd",
    "penalized": "--reg odd",
    "searched": "--reg odd",
    "loss": "--loss odd --reg ridge --reg-l2 1",
}

RAISES = [
    "sys.exit(0)",
    "sys.exit()",
    "sys.exit('odd')",
    "quit()",
    "raise GeneratorExit",
    "raise StopIteration",
    "raise StopAsyncIteration",
    "raise Odder('odd')",
    "raise BaseException",
    "raise Mute",
    "raise Number",
    "raise MuteData",
    "raise Fine('fine')",
    "raise ValueError('x' * 10_000_000)",
    "raise ValueError('a\\n' * 100_000)",
    "raise ValueError('\\x1b[2J\\x1b[31m\\x07\\r\\u202e')",
    "raise ValueError('\\udc80')",
    "raise ValueError(b'odd')",
    "raise KeyError",
    "raise OSError(28, 'No space left on device', '/etc/passwd')",
    "raise BrokenPipeError(32, 'Broken pipe')",
    "raise FileNotFoundError(2, 'none', 'corpus.jsonl')",
    "raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'odd')",
    "raise click.Abort",
    "raise click.exceptions.Exit(0)",
    "raise click.UsageError('odd')",
    "raise click.ClickException('odd')",
    "raise RecordError('odd')",
    "raise PluginError('odd')",
    "raise DataError('')",
    "recurse()",
    "raise MemoryError",
    "np.empty(1 << 60)",
    "bytearray(1 << 60)",
    "[0] * (1 << 60)",
    "warnings.simplefilter('error'); warnings.warn('odd')",
    "raise RuntimeWarning('odd')",
    "raise NotImplementedError",
    "assert False",
    "1 / 0",
    "raise ImportError('odd', name=3)",
    "raise ModuleNotFoundError('odd', name='odd')",
    "raise SyntaxError('odd')",
    "raise type('E', (Exception,), {'__module__': 'textreg.errors'})('odd')",
    "raise type('E', (Exception,), {'__module__': None})('odd')",
    "raise ValueError from Mute()",
    "exec('raise ValueError', {'__name__': 7})",
    "next(iter(()))",
    "(yield_ for yield_ in ()).throw(Odder)",
    "signal.raise_signal(signal.SIGINT) if False else boom()",
]

HARMLESS = [
    "print('noise', flush=True)",
    "sys.stdout.write('noise')",
    "sys.stdout.buffer.write(b'noise')",
    "sys.__stdout__.write('noise')",
    "os.write(1, b'noise')",
    "subprocess.run(['echo', 'noise'])",
    "click.echo('noise')",
    "click.echo('\\x1b[2J')",
    "print('\\udc80')",
    "sys.stdout = sys.stderr",
    "sys.stdout = open(os.devnull, 'w')",
    "sys.stdout = None",
    "sys.stderr = None",
    "sys.stdout.close()",
    "os.closerange(1, 2)",  # without an error where it is closed already
    "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
    "os.chdir('/')",
    "np.seterr(all='raise')",
    "np.random.seed(1)",
    "random.seed(1)",
    "np.set_printoptions(precision=1)",
    "locale.setlocale(locale.LC_ALL, 'C')",
    "warnings.simplefilter('ignore')",
    "os.environ.clear()",
    "gc.disable()",
    "logging.basicConfig(level=1); logging.debug('noise')",
    "threading.Thread(target=print, args=['noise']).start()",
    "threading.Thread(target=time.sleep, args=[30], daemon=True).start()",
    "threading.Thread(target=boom, daemon=True)",
    "threading.Thread(target=sys.exit).start()",
    "atexit.register(print, 'noise')",
    "os.fork() or os._exit(7)",
    "sys.argv.clear()",
    "CALLS.append(bytearray(1 << 20))",
    "open('/dev/null')",
]

AT_IMPORT = [  # what is undone after an import only
    ("harmless", "signal.signal(signal.SIGINT, signal.SIG_IGN)"),
    ("harmless", "sys.modules.pop(__name__)"),
    ("stopped", "del Odd"),
    ("stopped", "Odd = None"),
    ("stopped", "Odd = Odd()"),
    ("stopped", "Odd = Mute()"),
    ("stopped", "Odd.name = None"),
    ("stopped", "Odd.name = '\\x1b[31m'"),
    ("stopped", "Odd.name = 'a:b'"),
    ("stopped", "Odd.name = 'another'"),
    ("stopped", "Odd.name = 'x' * 100_000"),
    ("stopped", "Odd.api = 99"),
    ("stopped", "Odd.api = None"),
    ("stopped", "Odd.kind = 'none'"),
    ("either", "Odd.__abstractmethods__ = frozenset(['solve'])"),
    ("either", "Odd.__repr__ = boom"),
    ("either", "Odd.__str__ = boom"),
    ("either", "Odd.__eq__ = boom"),
    ("either", "Odd.__hash__ = None"),
    ("either", "Odd.__reduce__ = boom"),
    ("either", "Odd.__reduce_ex__ = boom"),
    ("either", "Odd.__getattribute__ = boom"),
    ("either", "Odd.__copy__ = boom"),
    ("stopped", "Odd.__init__ = boom"),
    ("either", "Odd.__init__ = lambda self, **given: None"),
    ("stopped", "Odd.__new__ = lambda cls, **given: None"),
    ("stopped", "Odd.__post_init__ = boom"),
    ("stopped", "Odd.params = boom"),
    ("stopped", "Odd.params = lambda self: None"),
    ("stopped", "Odd.params = lambda self: {'odd': object()}"),
    ("stopped", "Odd.params = lambda self: {3: float('nan')}"),
    ("either", "Odd.label = classmethod(boom)"),
    ("either", "Odd.label = classmethod(lambda cls: 3)"),
    ("either", "Odd.label = classmethod(lambda cls: '\\x1b[31m')"),
    ("stopped", "Odd.declared = classmethod(boom)"),
    ("stopped", "Odd.declared = classmethod(lambda cls, **given: 3)"),
    ("either", "Odd._declared = None"),
    ("either", "Odd.replace = boom"),
    ("either", "Odd.undecided = boom"),
    ("either", "Odd.needs = 'everything'"),
    ("either", "Odd.softmax = True"),
    ("either", "Odd.default_builder = 'nowhere'"),
    ("either", "Odd.__module__ = 'textreg.builtin.odd'"),
    ("either", "Odd.__module__ = None"),
    ("either", "Odd.__doc__ = None"),
    ("either", "type.__setattr__(Odd, '__qualname__', 'x' * 10_000)"),
]

WRONG = [
    "None", "3", "'odd'", "[]", "{}", "()", "(1, 2)", "Odd", "Odd()", "boom", "iter(())",
    "object()",
    "np.zeros(3)", "float('nan')", "float('inf')", "-1.0", "1j", "Mute()", "np.zeros((2, 2, 2))",
    "csr_array((3, 3))", "True", "10 ** 400", "np.array(None)", "np.ma.masked",
]  # fmt: skip

FIELDS = {
    "tokenizer": ["ids", "sentence_ptr", "document_ptr", "vocabulary", "spans", "sentence_spans"],
    "groups": ["indptr", "indices", "weights", "n_features", "names"],
    "graph": ["links"],
    "regularizer": [
        "w", "b", "objective", "gap", "iterations", "converged", "report", "group_norms",
    ],
}  # fmt: skip
FIELDS["searched"] = FIELDS["regularizer"]

VALUES = [
    *WRONG, "value[::-1]", "value[:-1]", "value[:0]", "value * 1e308 * 10", "value - 5",
    "value.astype(np.float32)", "value.astype(object)", "value.astype(complex)", "value.tolist()",
    "np.asmatrix(value)", "np.ma.array(value)", "list(reversed(value))", "value + value",
    "np.broadcast_to(value[:1], len(value))", "np.full(len(value), np.nan)", "str(value)",
    "np.frombuffer(value.tobytes(), value.dtype)", "[f'{it}' * 9 for it in value]",
]  # fmt: skip


class Misdeed(NamedTuple):
    """Code at a place of a plugin of a kind, and what is expected of a training with it."""

    kind: str
    place: str
    code: str
    expected: str

    def file(self) -> str:
        """The plugin: harmless unless the environment has HOSTILE."""
        slots = dict.fromkeys(("in_call", "in_loop", "on_result", "in_hook", "at_import"), "pass")
        slots[self.place] = self.code
        own = CLASSES[self.kind].format(**slots)
        return HEAD + own + TAIL.format(hook=HOOKS[self.kind], **slots)


def catalogue() -> list[Misdeed]:
    """All misdeeds, in an order in which the first ones are of all sorts."""
    found = []
    for kind in CLASSES:
        for place in ("at_import", "in_hook", "in_call", "in_loop"):
            found += [Misdeed(kind, place, code, "stopped") for code in RAISES]
            found += [Misdeed(kind, place, code, "harmless") for code in HARMLESS]
        found += [Misdeed(kind, "at_import", code, expected) for expected, code in AT_IMPORT]
        found += [Misdeed(kind, "on_result", f"result = {value}", "either") for value in WRONG]
        for field in FIELDS.get(kind, ()):
            found += [
                Misdeed(kind, "on_result", f"value = result.{field}; {change}", "either")
                for change in (
                    *(f"object.__setattr__(result, '{field}', {value})" for value in VALUES),
                    f"object.__delattr__(result, '{field}')",
                    "CALLS.append(value); [old.fill(0) for old in CALLS[:-1]]",
                )
            ]
    step = 1009  # a prime, so that neighbors differ in kind, place and code
    return [found[number * step % len(found)] for number in range(len(found))]

"""Small distributions, most of them broken, as wheels that pip installs: what strangers may do."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HEAD = """\
import sys
import numpy as np
from scipy.sparse import csr_array
from textreg.hookspecs import hookimpl
from textreg.kinds import GraphBuilder, GroupBuilder, Regularizer, Tokenizer
from textreg.params import AUTO, LogGrid, param
from textreg.records import Graph, Groups, Solution, Tokens
"""
BASES = {
    "regularizer": ("Regularizer", "textreg_regularizers"),
    "tokenizer": ("Tokenizer", "textreg_tokenizers"),
    "groups": ("GroupBuilder", "textreg_group_builders"),
    "graph": ("GraphBuilder", "textreg_graph_builders"),
}


@dataclass(frozen=True)
class Distribution:
    """One distribution: its name, version and entry points, and the code of its one module.

    api: the version of the interface that its metadata names, if it does. help: of its commands.
    """

    name: str
    code: str
    entries: Mapping[str, str] = field(default_factory=dict)
    version: str = "0.3"
    requires: tuple[str, ...] = ()
    api: str = ""
    help: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    def wheel(self, folder: Path) -> Path:
        """Write it as a wheel, which is a zip file with metadata and a list of its files."""
        info = f"{self.module}-{self.version}.dist-info"
        entries = "".join(f"{name} = {value}\n" for name, value in self.entries.items())
        api = f"\n[textreg.api]\n{self.api} = {self.module}\n" if self.api else ""
        lines = "".join(f"{line} = {self.module}\n" for line in self.help)
        api += f"\n[textreg.help]\n{lines}" if lines else ""
        requires = "".join(f"Requires-Dist: {line}\n" for line in self.requires)
        head = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n"
        files = {
            f"{self.module}.py": self.code,
            f"{info}/METADATA": head + requires,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\n"
            "Root-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": f"[textreg]\n{entries}{api}",
        }
        record = [
            f"{name},sha256={_digest(content)},{len(content.encode())}"
            for name, content in files.items()
        ]
        files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
        path = folder / f"{self.module}-{self.version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path


def _digest(content: str) -> str:
    raw = hashlib.sha256(content.encode()).digest()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def one_part(
    kind: str, name: str, body: str, *, version: str = "0.3", module: str = "acme"
) -> Distribution:
    """A distribution with one class, of which ``body`` are the indented lines."""
    base, hook = BASES[kind]
    distribution = f"{module}-{name}"
    code = (
        f"{HEAD}\n\nclass Part({base}):\n    name = {name!r}\n{body}\n\n"
        f"@hookimpl\ndef {hook}():\n    return [Part]\n"
    )
    entries = {f"{kind}.{name}": distribution.replace("-", "_")}
    return Distribution(distribution, code, entries, version)


def install(distributions: Iterable[Distribution], wheels: Path, target: Path) -> None:
    """Have pip install them into the folder ``target``."""
    wheels.mkdir(exist_ok=True)
    paths = [str(distribution.wheel(wheels)) for distribution in distributions]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-index", "--no-compile", "--target", str(target)]
    subprocess.run([*command, *paths], check=True)


def unpack(distributions: Iterable[Distribution], wheels: Path, target: Path) -> None:
    """The same without pip, which takes a second to do just this."""
    wheels.mkdir(exist_ok=True)
    for distribution in distributions:
        with zipfile.ZipFile(distribution.wheel(wheels)) as archive:
            archive.extractall(target)


SLOPE = """\
    l1: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 1), help="penalty strength")
    def solve(self, problem):
        from textreg.penalties import Separable
        from textreg.solvers.newton import newton
        return newton(problem, Separable.constant(problem.X.shape[1], l1=self.l1))
"""


def _indented(lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines.split("\n"))


def _solving(name: str, lines: str) -> Distribution:
    """A regularizer whose solve begins with ``found``, a right solution."""
    body = (
        "    def solve(self, problem):\n"
        "        w = np.zeros(problem.X.shape[1])\n"
        "        found = Solution(w=w, b=0.0, objective=1.0, converged=True)\n"
    )
    return one_part(
        "regularizer", name, body + "".join(f"        {it}\n" for it in lines.split("\n"))
    )


def _encoding(name: str, lines: str) -> Distribution:
    """A tokenizer whose encode begins with ``tokens``, those of splitting at spaces."""
    body = (
        "    def __call__(self, text):\n        return [text.split()]\n"
        "    def encode(self, texts, *, spans=False):\n"
        "        tokens = super().encode(texts)\n"
        "        fields = {key: getattr(tokens, key) for key in tokens.__dataclass_fields__}\n"
    )
    return one_part(
        "tokenizer", name, body + "".join(f"        {it}\n" for it in lines.split("\n"))
    )


def _calling(name: str, result: str) -> Distribution:
    """A tokenizer that gives ``result`` of every ``text``."""
    return one_part("tokenizer", name, f"    def __call__(self, text):\n        return {result}\n")


def _building(kind: str, name: str, lines: str) -> Distribution:
    """A builder; ``p`` is the number of features, ``groups`` and ``graph`` are right."""
    body = (
        "    def build(self, tokens):\n"
        "        p = len(tokens.vocabulary)\n"
        "        indptr, indices = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)\n"
        "        groups = Groups(indptr, indices, np.ones(2), p)\n"
        "        graph = Graph(csr_array((p, p)))\n"
    )
    return one_part(kind, name, body + _indented(lines))


@dataclass(frozen=True)
class Fault:
    """A broken distribution, how it is met on the command line, and what must be said of it."""

    distribution: Distribution
    options: str
    says: str


def _fault(distribution: Distribution, says: str) -> Fault:
    ((entry, _),) = distribution.entries.items()
    kind, _, name = entry.partition(".")
    options = {
        "regularizer": f"--reg {name}",
        "tokenizer": f"--reg lasso --reg-l1 0.1 --tokenizer {name}",
        "groups": f"--reg group --reg-group 0.1 --reg-l1 0.1 --groups {name}",
        "graph": f"--reg network --graph {name}",
    }[kind]
    return Fault(distribution, options, says)


def _loading(name: str, code: str, requires: tuple[str, ...] = ()) -> Distribution:
    """A regularizer that cannot be loaded."""
    module = f"acme_{name}"
    return Distribution(f"acme-{name}", code, {f"regularizer.{name}": module}, requires=requires)


_MISSPELLED = one_part("regularizer", "misspelled", SLOPE)

LOADING = {
    "import": (
        _loading("import", "import jaxx.numpy"),
        r"acme-import 0\.3 cannot be loaded: it needs 'jaxx', which is not installed\. "
        r"Run: pip install jaxx$",
    ),
    "declared": (
        _loading("declared", "import yamml", requires=("numpy>=1.24", "PyYamml>=6")),
        r"it needs 'yamml', which is not installed\. Run: pip install 'PyYamml>=6'$",
    ),
    "syntax": (_loading("syntax", "def f(:"), r"acme-syntax 0\.3 cannot .*SyntaxError: inv"),
    "exit": (_loading("exit", "raise SystemExit(7)"), r"acme-exit 0\.3 cannot .*SystemExit: 7"),
    "misspelled": (
        Distribution(
            _MISSPELLED.name,
            _MISSPELLED.code.replace("textreg_regularizers", "textreg_regularizer"),
            _MISSPELLED.entries,
        ),
        r"unknown hook 'textreg_regularizer' in plugin acme-misspelled 0\.3\. "
        r"Did you mean 'textreg_regularizers'\?",
    ),
    "needs": (
        one_part("regularizer", "needs", "    needs = 'grups'\n" + SLOPE),
        r'acme-needs 0\.3 cannot .*TypeError: Part\.needs must be "", "groups" or "graph", not ',
    ),
    "softmax": (
        one_part("regularizer", "softmax", "    softmax = True\n" + SLOPE),
        r"acme-softmax 0\.3 cannot .*TypeError: Part\.softmax is True, so it must define so",
    ),
}
"""By name, regularizers that cannot be loaded, and what is said of each."""

FAULTS = [
    *(_fault(distribution, says) for distribution, says in LOADING.values()),
    _fault(
        one_part("regularizer", "init", "    def __init__(self, **values): 1 / 0\n"
                 "    def solve(self, problem): pass\n"),
        r"'init' of acme-init 0\.3 fails in its constructor: ZeroDivisionError.*acme_init\.py:\d+",
    ),
    _fault(
        _solving("raises", "raise RuntimeError('no license\\nreally')"),
        r"regularizer 'raises' of acme-raises 0\.3 fails in solve: RuntimeError: no license "
        r"\(.*acme_raises\.py:\d+\)\. Update it \(pip install -U acme-raises\), use another",
    ),
    _fault(
        _solving("quits", "sys.exit(0)"),
        r"'quits' of acme-quits 0\.3 fails in solve: SystemExit: 0",
    ),
    _fault(
        _solving("nothing", "pass"),
        r"'nothing' of acme-nothing 0\.3 is broken: solve must give a Solution, not None\.",
    ),
    _fault(_solving("pair", "return w, 0.0"), r"solve must give a Solution, not of the type tuple"),
    _fault(
        _solving("shape", "return Solution(w=w[1:], b=0.0, objective=1.0)"),
        r"'shape' of acme-shape 0\.3 .* w, must give an array of float64 of the shape \(\d+,\), "
        r"not float64 \(\d+,\)",
    ),
    _fault(
        _solving("words", "return Solution(w=['a'] * len(w), b=0.0, objective=1.0)"),
        r"acme-words 0\.3 fails in solve: w must hold real numbers \(float64\), not text",
    ),
    _fault(
        _solving("nan", "w[0] = np.nan\nreturn Solution(w=w, b=0.0, objective=1.0)"),
        r"'nan' of acme-nan 0\.3 is broken: solve, w, must give finite numbers, not 1 that are NaN",
    ),
    _fault(
        _solving("claims", "return Solution(w=w * np.nan, b=0.0, objective=1.0, converged=True)"),
        r"acme-claims 0\.3 fails in solve: a solution with weights that are not finite cannot be",
    ),
    _fault(
        _solving("objective", "return Solution(w=w, b=0.0, objective=np.inf)"),
        r"objective, must give a finite number, not inf",
    ),
    _fault(
        _solving("intercept", "return Solution(w=w, b=None, objective=1.0)"),
        r"acme-intercept 0\.3 fails in solve: b must hold real numbers \(float64\), not NoneType",
    ),
    _fault(
        _solving("order", "from dataclasses import replace\n"
            "from textreg.records import SelectionReport\n"
            "return replace(found, report=SelectionReport(order=(10**9,)))"),
        r"report\.order, must give indices of \d+ features",
    ),
    _fault(
        _solving("writes", "problem.X.data[:] = 0\nreturn found"),
        r"'writes' of acme-writes 0\.3 fails in solve: ValueError: .*read-only.*; what it is given "
        r"is shared and must not be changed, so copy it first",
    ),
    _fault(
        _solving("sorts", "problem.groups, problem.X.indices.sort()\nreturn found"),
        r"acme-sorts 0\.3 fails in solve: ValueError: .*read-only",
    ),
    _fault(
        one_part(
            "regularizer",
            "scale",
            SLOPE + "    def scale(self, problem, parameter): return -np.inf\n",
        ),
        r"'scale' of acme-scale 0\.3 fails in candidates: ValueError: scale must give a number, "
        r"0 or more, not -inf for l1",
    ),
    _fault(
        one_part("regularizer", "grid", SLOPE + "    def candidates(self, problem): return []\n"),
        r"'grid' of acme-grid 0\.3 is broken: candidates must give one at least, not none",
    ),
    _fault(
        one_part(
            "regularizer",
            "short",
            SLOPE + "    def path(self, problem, chain):\n"
            "        yield chain[0], chain[0].solve(problem)\n",
        ),
        r"'short' of acme-short 0\.3 is broken: path must give \d+ solutions, .*, not 1",
    ),
    _fault(
        one_part(
            "regularizer",
            "nameless",
            SLOPE + "    def path(self, problem, chain):\n"
            "        yield from ((each.l1, each.solve(problem)) for each in chain)\n",
        ),
        r"acme-nameless 0\.3 is broken: path must give pairs of a regularizer and its solution",
    ),
    _fault(_calling("flat", "text.split()"), r"acme-flat 0\.3 fails in encode: TypeError: .*not a"),
    _fault(_calling("none", "None"), r"'none' of acme-none 0\.3 fails in encode: TypeError"),
    _fault(
        _calling("numbers", "[[1, 2, 3]]"),
        r"tokenizer 'numbers' of acme-numbers 0\.3 is broken: encode must give texts as tokens, "
        r"none of them empty, not 1\.",
    ),
    _fault(
        _calling("bytes", "[[text.encode()]]"),
        r"acme-bytes 0\.3 is broken: encode must give texts as tokens, .* not b'",
    ),
    _fault(
        _encoding("fewer", "return super().encode(texts[1:])"),
        r"acme-fewer 0\.3 is broken: encode must give 40 documents, not 39",
    ),
    _fault(
        _encoding("wide", "return Tokens(**{**fields, 'ids': tokens.ids.astype('i8') + 2**40})"),
        r"acme-wide 0\.3 fails in encode: .*\[0\] is 1099511627776, which is no int32",
    ),
    _fault(
        _encoding("beyond", "return Tokens(**{**fields, 'ids': tokens.ids + 1000})"),
        r"acme-beyond 0\.3 fails in encode: token ids run from 1000",
    ),
    _fault(
        _encoding("twins", "return Tokens(**{**fields, 'vocabulary': ['a'] * 99})"),
        r"acme-twins 0\.3 is broken: encode must give each name once, not 98 of them again",
    ),
    _fault(
        _building("groups", "outside", "return Groups(indptr, indices + p, np.ones(2), p)"),
        r"group builder 'outside' of acme-outside 0\.3 fails in build: group 0 holds feature \d+, "
        r"but features run from 0",
    ),
    _fault(
        _building("groups", "larger", "return Groups(indptr, indices, np.ones(2), p + 5)"),
        r"acme-larger 0\.3 is broken: build must give \d+ features, not \d+",
    ),
    _fault(
        _building("groups", "halves", "return Groups(indptr, indices + 0.5, np.ones(2), p)"),
        r"acme-halves 0\.3 fails in build: groups\.indices\[0\] is 0\.5, which is no int32",
    ),
    _fault(
        _building("groups", "weightless", "return Groups(indptr, indices, np.full(2, np.nan), p)"),
        r"acme-weightless 0\.3 fails in build: group 0 has the weight nan",
    ),
    _fault(
        _building("groups", "relabels", "tokens.ids[:] = 0\nreturn groups"),
        r"acme-relabels 0\.3 fails in build: ValueError: .*read-only",
    ),
    _fault(
        _building("graph", "oblong", "return Graph(csr_array((p, p + 1)))"),
        r"graph builder 'oblong' of acme-oblong 0\.3 fails in build: a feature graph is square",
    ),
    _fault(
        _building("graph", "smaller", "return Graph(csr_array((p - 1, p - 1)))"),
        r"acme-smaller 0\.3 is broken: build must give \d+ features, not \d+",
    ),
    _fault(
        _building(
            "graph",
            "unknown",
            "return Graph(csr_array(([np.nan], ([0], [1])), shape=(p, p)))",
        ),
        r"acme-unknown 0\.3 fails in build: similar: the link from feature 0 to 1 has the weight n",
    ),
]  # fmt: skip
"""Every way in which a plugin may be broken."""

WRONG_SPANS = [
    (
        _encoding("spanless", "return tokens"),
        r"acme-spanless 0\.3 is broken: encode, spans, must give an array of int32 of the shape "
        r"\(\d+, 2\), not None",
    ),
    (
        _encoding(
            "spanning",
            "fields['sentence_spans'] = np.zeros((tokens.n_sentences, 2), dtype=np.int32)\n"
            "fields['spans'] = np.full((len(tokens.ids), 2), 1000, dtype=np.int32)\n"
            "return Tokens(**fields) if spans else tokens",
        ),
        r"acme-spanning 0\.3 is broken: encode, spans, must give offsets inside of the text, not "
        r"\(1000, 1000\) in a text of 9 characters",
    ),
]
"""Tokenizers that are found out when a text is explained."""

SOUND = [
    one_part("regularizer", "slope", SLOPE),
    one_part("regularizer", "clash", SLOPE, module="one"),
    one_part("regularizer", "clash", SLOPE, module="other", version="2.0"),
    one_part(
        "tokenizer",
        "spaces",
        "    lower: bool = param(default=True, help='small letters')\n"
        "    def __call__(self, text):\n        return [text.lower().split()]\n",
        version="1.3.0",
    ),
]
"""Distributions that are as they should be."""

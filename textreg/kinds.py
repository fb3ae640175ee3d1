"""The kinds of plugin that are classes: what to subclass.

A plugin subclasses one of these, gives it a ``name``, declares its parameters with
:func:`textreg.params.param`, and writes the abstract methods of its kind.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textreg.errors import PluginError, UsageError
from textreg.losses import Loss
from textreg.params import Plugin, check_decided
from textreg.records import Floats, Graph, Groups, Int64s, MultiSolution, Problem, Solution, Tokens
from textreg.records.design import Workers
from textreg.records.plain_model import PlainModel
from textreg.records.problem import Support
from textreg.records.store import ArrayStore
from textreg.records.text import tokens_of

if TYPE_CHECKING:
    from textreg.penalties import Penalty

__all__ = [
    "API",
    "KINDS",
    "Backend",
    "Exporter",
    "GraphBuilder",
    "GroupBuilder",
    "Loss",
    "Penalized",
    "Plugin",
    "Regularizer",
    "Tokenizer",
    "WordVectors",
    "Workers",
]

#: Version of the plugin interface. What may change without a new one: docs/promises.md.
API = 1


class Tokenizer(Plugin):
    """Splits texts into sentences of tokens.

    Subclasses write :meth:`__call__`; :meth:`encode` then works, and may be overridden to be fast.

    Attributes
    ----------
    forms_ngrams : bool, default True
        Whether runs of its tokens become n-grams (``--ngrams``). Where they do not, as of
        characters, every token is a feature of its own, whose name may hold spaces.
    """

    kind: ClassVar[str] = "tokenizer"
    forms_ngrams: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, text: str) -> list[list[str]]:
        """Tokens of one text.

        Parameters
        ----------
        text : str
            Any text, empty ones included.

        Returns
        -------
        list of list of str
            The tokens of every sentence.
        """

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """Tokens of many texts, as numbers.

        The default calls the tokenizer for every text.

        Parameters
        ----------
        texts : sequence of str
            The documents.
        spans : bool, default False
            Whether to give the character offsets of tokens and sentences as well.

        Returns
        -------
        Tokens
            Feature ids are numbered in order of first occurrence here. Another order must not
            depend on chance: sorted names, or one vocabulary for all texts.

        Raises
        ------
        UsageError
            If ``spans`` is asked for and the tokenizer has none, as in the default.
        """
        if spans:
            raise UsageError(f"tokenizer '{self.name}' does not give character offsets.")
        return tokens_of(texts, self._sentences)

    def _sentences(self, text: str) -> list[list[str]]:
        sentences = list(self(text))
        for sentence in sentences:
            if isinstance(sentence, str):
                raise TypeError(f"{text!r:.40} gives {sentence!r:.40}, not a list, as sentence")
        return sentences


class GroupBuilder(Plugin):
    """Builds groups of features, which may overlap, from the training documents.

    Attributes
    ----------
    order_matters : bool, default False
        Whether the groups depend on the order of features and documents, because ties and random
        starts are settled by it. Else the contract checks that they do not.
    within_documents : bool, default False
        Whether every group is made of one document, and of nothing else: so that documents can be
        given to :meth:`build` block by block.
    wants_texts : bool, default False
        Whether ``tokens`` come with ``texts``, ``spans`` and ``sentence_spans``: with the documents
        themselves, and the places of features and sentences in them. For what is no feature, such
        as dates and headings.
    """

    kind: ClassVar[str] = "groups"
    order_matters: ClassVar[bool] = False
    within_documents: ClassVar[bool] = False
    wants_texts: ClassVar[bool] = False

    @abstractmethod
    def build(self, tokens: Tokens) -> Groups:
        """Groups of features.

        Parameters
        ----------
        tokens : Tokens
            The training documents; their ids are feature ids. They must not be changed.

        Returns
        -------
        Groups
            Groups over the features of ``tokens``.

        Raises
        ------
        DataError
            If the documents give no groups.
        """


class GraphBuilder(Plugin):
    """Builds a graph of features, weighted links between them, from the training documents.

    Attributes
    ----------
    takes_groups : bool, default False
        Whether users may name a group builder as well; then :meth:`build_from` is called.
    order_matters : bool, default False
        Whether the links depend on the order of features and documents, as ties are settled by it.
        Else the contract checks that they do not.
    wants_texts : bool, default False
        Whether ``tokens`` come with ``texts``, ``spans`` and ``sentence_spans``: with the documents
        themselves, and the places of features and sentences in them. For what is no feature, such
        as dates and headings.
    """

    kind: ClassVar[str] = "graph"
    order_matters: ClassVar[bool] = False
    takes_groups: ClassVar[bool] = False
    wants_texts: ClassVar[bool] = False

    @abstractmethod
    def build(self, tokens: Tokens) -> Graph:
        """A graph of features.

        Parameters
        ----------
        tokens : Tokens
            The training documents, and the unlabeled ones; their ids are feature ids. They must not
            be changed.

        Returns
        -------
        Graph
            A graph over the features of ``tokens``.

        Raises
        ------
        DataError
            If the documents give no graph.
        """

    def build_from(self, tokens: Tokens, groups: Groups) -> Graph:
        """The graph, where the user also named a group builder. Only with ``takes_groups``.

        Parameters
        ----------
        tokens : Tokens
            As for :meth:`build`.
        groups : Groups
            What the group builder made of the same tokens.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            If this builder makes no use of groups, as by default.
        """
        raise UsageError(f"graph '{self.label()}' makes no use of groups: leave them out.")


class Regularizer(Plugin):
    """Finds the weights of a model. Subclasses write :meth:`solve`.

    Attributes
    ----------
    needs : {"", "groups", "graph"}
        What :meth:`solve` needs in the problem besides the documents.
    default_builder : str
        Name of the group or graph builder that is used when the user names none.
    softmax : bool, default False
        Whether :meth:`solve_softmax` is written.
    minimizes : bool, default True
        Whether the weights that :meth:`solve` finds minimize :meth:`objective`, at least over the
        features that have one. False where stopping early is the regularization.
    order_matters : bool, default False
        Whether the order of documents or features settles ties, or random numbers are drawn.
    """

    kind: ClassVar[str] = "regularizer"
    needs: ClassVar[Literal["", "groups", "graph"]] = ""
    default_builder: ClassVar[str] = ""
    softmax: ClassVar[bool] = False
    minimizes: ClassVar[bool] = True
    order_matters: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.needs not in ("", "groups", "graph"):
            expected = '"", "groups" or "graph"'
            raise TypeError(f"{cls.__name__}.needs must be {expected}, not {cls.needs!r}")
        if cls.softmax and cls.solve_softmax is Regularizer.solve_softmax:
            raise TypeError(f"{cls.__name__}.softmax is True, so it must define solve_softmax")

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """Weights for one problem.

        Parameters
        ----------
        problem : Problem
            The documents and how to fit them, with ``sample_weight``, ``fit_intercept``, ``tol``,
            ``max_iter``, ``start`` and ``callback``. It must not be changed.

        Returns
        -------
        Solution
            The weights (p,), the intercept, and how good they are.

        Warns
        -----
        ConvergenceWarning
            If the solution is not within the tolerance.
        """

    def solve_each(self, problems: Sequence[Problem]) -> list[Solution]:
        """Weights for several problems, of labels that share their documents.

        The default solves one after the other. Write it where passes over the matrix can be
        shared; a solution must not depend on what other problems are beside its own.

        Parameters
        ----------
        problems : sequence of Problem
            As for :meth:`solve`. They have the same matrix, groups and graph; labels, weights of
            documents and start differ.

        Returns
        -------
        list of Solution
            That of every problem, in order.
        """
        return [self.solve(problem) for problem in problems]

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Weights for all classes together, under the softmax loss.

        Parameters
        ----------
        problem : Problem
            As for :meth:`solve`; its ``y`` has no meaning.
        codes : ndarray of shape (n,)
            Class of every document, from 0; all classes occur.
        start : tuple of ndarray, optional
            Weights (classes, p) and intercepts (classes,) to start from.

        Returns
        -------
        MultiSolution
            The weights (classes, p) and intercepts (classes,).

        Raises
        ------
        UsageError
            If the regularizer has no such fit, as by default.
        """
        raise UsageError(f"{self.label()} has no softmax: leave out multiclass.")

    def fits_blocks(self) -> bool:
        """Whether :meth:`solve` takes documents that lie in blocks, whose matrix is nowhere whole.

        Such a problem has a :class:`~textreg.records.design.BlockDesign`, and its groups, if
        any, are :class:`~textreg.records.design.BlockGroups`. A parameter that is still
        ``AUTO`` may have any value. Default: it does not.
        """
        return False

    def objective(self, problem: Problem, w: Floats, b: float) -> float:
        """What :meth:`solve` minimizes, and states as ``Solution.objective``, at any weights.

        The default is the loss, and the value of ``penalty(problem)`` where there is such a method.
        Write it where something else is added to the loss, so that others can compute it.

        Parameters
        ----------
        problem : Problem
            The problem.
        w : ndarray, shape (p,)
            Weights.
        b : float
            Intercept.

        Returns
        -------
        float
            The objective; infinite where such weights are not allowed.
        """
        z = problem.design.product(w) + b
        value = problem.loss.value(z, problem.y, problem.sample_weight)
        penalty = getattr(self, "penalty", None)
        return value if penalty is None else value + float(penalty(problem).value(w))

    def objective_softmax(self, problem: Problem, codes: Int64s, w: Floats, b: Floats) -> float:
        """What :meth:`solve_softmax` minimizes and states as its objective, at any weights.

        The default is the softmax loss, and for every class what :meth:`objective` adds to the
        loss. Write it where the penalty ties the classes together.

        Parameters
        ----------
        problem, codes
            As for :meth:`solve_softmax`.
        w : ndarray, shape (classes, p)
            Weights.
        b : ndarray, shape (classes,)
            Intercepts.

        Returns
        -------
        float
            The objective; infinite where such weights are not allowed.
        """
        from textreg.solvers.softmax import softmax_loss

        value = softmax_loss(problem, codes, w, b)
        for each in w:
            z = problem.design.product(each)
            value += self.objective(problem, each, 0.0)
            value -= problem.loss.value(z, problem.y, problem.sample_weight)
        return value

    def support(self, problem: Problem, solution: Solution) -> Support | None:
        """What a solution proves of the support of the optimum; None where nothing is known.

        Parameters
        ----------
        problem : Problem
            The problem.
        solution : Solution
            What :meth:`solve` found for it.

        Returns
        -------
        Support or None
            The default is None.
        """
        return None

    def parts(self, w: Floats, groups: Groups, selected: Sequence[int]) -> list[Floats]:
        """What each selected group adds to weights that are a sum of parts, each within a group.

        It is asked for if :meth:`solve` reports a :class:`~textreg.records.problem.PartsReport`.

        Parameters
        ----------
        w : ndarray, shape (p,)
            The weights of a model.
        groups : Groups
            The groups of its training.
        selected : sequence of int
            The groups that have a part, as reported.

        Returns
        -------
        list of ndarray
            For every selected group the weights (members,) of its part. The default is for groups
            that do not overlap: all weights of its features.
        """
        return [w[groups.members(g)] for g in selected]

    def rivals(self) -> Sequence[str]:
        """Names of further regularizers whose candidates a search tries; none by default."""
        return ()

    def scale(self, problem: Problem, parameter: str) -> float:
        """Scale of the search grid of a parameter: grids are fractions of it.

        Parameters
        ----------
        problem : Problem
            The problem that is searched on. If all classes are fitted together, it has ``codes``.
        parameter : str
            Name of the parameter.

        Returns
        -------
        float
            The smallest value of ``parameter`` at which every weight is zero. The default is that
            of an l1 penalty: the largest absolute gradient of the loss at zero weights. For ``l2``
            it is divided by :meth:`~textreg.records.Problem.spread`: weights grow with the unit of
            numbers, and their squares as the squared loss does.
        """
        return problem.largest_gradient_at_zero() / (problem.spread() if parameter == "l2" else 1.0)

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """The search grid: this regularizer with values for every parameter that is ``AUTO``.

        The order suits warm starts: the last such parameter changes fastest, and each starts at the
        value with the fewest features. A regularizer without ``AUTO`` returns itself alone.

        Parameters
        ----------
        problem : Problem
            What is to be fitted; :meth:`scale` measures the strengths on it.

        Returns
        -------
        list of Regularizer

        Raises
        ------
        UsageError
            If a parameter that is ``AUTO`` has no grid.
        ValueError
            If :meth:`scale` does not give a number.
        """
        grid: list[Regularizer] = [self]
        for key in self.undecided():
            search = self.declared(**self.params())[key].search
            if search is None:
                raise UsageError(f"{self.name}: {key} has no default; give it a value.")
            scale = self.scale(problem, key)
            if not 0 <= scale < math.inf:
                raise ValueError(f"scale must give a number, 0 or more, not {scale} for {key}")
            values = search.values(scale)
            grid = [part.replace(**{key: value}) for part in grid for value in values]
        return grid

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """The regularization path: solutions of many candidates, each started from the last one.

        Override it where one run gives many solutions, as a greedy pursuit does.

        Parameters
        ----------
        problem : Problem
            As for :meth:`solve`.
        candidates : sequence of Regularizer, optional
            Default: those of :meth:`candidates`.

        Yields
        ------
        tuple of Regularizer and Solution
            Every candidate, in order, with its solution.
        """
        start = problem.start
        for part in self.candidates(problem) if candidates is None else candidates:
            solution = part.solve(problem.replace(start=start))
            start = (solution.w, solution.b)
            yield part, solution


class Penalized(Regularizer):
    """A regularizer that adds a penalty to the loss. Subclasses write :meth:`penalty`."""

    softmax: ClassVar[bool] = True

    @abstractmethod
    def penalty(self, problem: Problem) -> Penalty:
        """The penalty to add to the loss.

        Parameters
        ----------
        problem : Problem
            What is to be fitted; ``problem.design.shape`` is (n, p). ``problem.X`` is the matrix,
            which is nowhere whole where documents lie in blocks. ``problem.y`` has no meaning under
            softmax.

        Returns
        -------
        Penalty
            An object with ``value(w)`` and ``prox(w, step)`` for weights (p,).
        """

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty by accelerated proximal gradient.

        Raises
        ------
        UsageError
            A parameter is still ``AUTO``.
        PluginError
            The penalty has no ``value`` or no ``prox``.
        """
        from textreg.solvers.proximal import proximal

        return proximal(problem, self._checked_penalty(problem))

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """The same for all classes together: the softmax loss + the penalty of every class.

        Raises
        ------
        UsageError, PluginError
            As of :meth:`solve`; and if the loss is another than the logistic one.
        """
        from textreg.solvers.softmax import multinomial_proximal

        return multinomial_proximal(problem, codes, self._checked_penalty(problem), start)

    def fits_blocks(self) -> bool:
        """Whether :meth:`solve` takes documents that lie in blocks, whose matrix is nowhere whole.

        Products with the matrix are all that is asked for here, so that the default is yes, unless
        the penalty needs groups or a graph. A ``penalty`` that reads ``problem.X`` then gets a
        UsageError, which says that the matrix is in blocks: say False if yours does.
        """
        return not self.needs

    def _checked_penalty(self, problem: Problem) -> Penalty:
        check_decided(self.label(), **self.params())
        penalty = self.penalty(problem)
        if missing := [name for name in ("value", "prox") if not hasattr(penalty, name)]:
            raise PluginError(
                f"{type(self).__name__}.penalty returned {penalty!r}, which has no "
                f"{' and no '.join(missing)}, instead of a penalty. Fix that method, or tell its "
                "authors."
            )
        return penalty


class Exporter(Plugin):
    """Writes models in a format that other programs can use.

    Attributes
    ----------
    suffix : str
        The ending of the names of such files, with its dot.
    """

    kind: ClassVar[str] = "exporter"
    suffix: ClassVar[str] = ""

    @abstractmethod
    def export(self, model: PlainModel) -> bytes:
        """A model as the content of a file.

        Parameters
        ----------
        model : PlainModel
            The model as plain data, with all that prediction needs. It must not be changed.

        Returns
        -------
        bytes
            The same for equal models.

        Raises
        ------
        UsageError
            If the format cannot express such a model; the message says why.
        """


class Backend(Plugin):
    """Says where blocks of documents are kept, and where what is asked of them is computed.

    Attributes
    ----------
    address : str, default ""
        What users name beside it, as in ``--backend NAME:ADDRESS``, with an example: "the address
        of a scheduler, such as tcp://10.0.0.5:8786". Empty if there is nothing to name.
    """

    kind: ClassVar[str] = "backend"
    address: ClassVar[str] = ""

    @abstractmethod
    def open(
        self, address: str | None, parts: Sequence[Plugin], memory: int | None, store: ArrayStore
    ) -> AbstractContextManager[Workers]:
        """The workers, for use in a ``with`` statement.

        Parameters
        ----------
        address : str or None
            What the user named, if the backend asks for it.
        parts : sequence of Plugin
            What is going to be called there.
        memory : int or None
            Bytes that the arrays of a worker may take, if the user said how many.
        store : ArrayStore
            Where arrays go that are kept in this process.

        Returns
        -------
        context manager of Workers

        Raises
        ------
        UsageError
            If there are no workers, or they cannot do the work just as it would be done here.
        """


class WordVectors(Plugin):
    """A table of word vectors, such as a file of one format."""

    kind: ClassVar[str] = "vectors"

    @abstractmethod
    def rows(self, wanted: Callable[[int, str], bool]) -> tuple[list[str], Floats]:
        """Some rows of the table, of which only these need be in memory.

        Parameters
        ----------
        wanted : callable
            Called with the number of each row, from 0 for that of the most frequent word, and its
            word: whether it is one of them.

        Returns
        -------
        tuple of list of str and ndarray of shape (words, dimensions)
            In the order of the table.

        Raises
        ------
        UsageError
            For a file that cannot be opened.
        DataError
            For a damaged one.
        """


KINDS: dict[str, type[Any]] = {
    part.kind: part
    for part in (
        *(Tokenizer, GroupBuilder, GraphBuilder, Regularizer, Loss, Exporter, Backend),
        WordVectors,
    )
}

"""The check of a corpus, alone or beside another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from textreg.checking import labels as label_checks
from textreg.checking.copies import copy_findings, near_findings, overlap, same_texts
from textreg.checking.documents import (
    LEVELS,
    NEEDS,
    CheckResult,
    CheckSettings,
    Documents,
    Example,
    Finding,
    Unchecked,
    lacking,
    lengths_of,
    text_findings,
)
from textreg.errors import DataError, UsageError
from textreg.records import Corpus
from textreg.records.documents import as_column, check_documents, column_names
from textreg.records.text import as_corpus, with_labels
from textreg.tasks import Regression
from textreg.tasks.base import label_variants
from textreg.terminal import shell_line
from textreg.training.running import Progress

# What needs labels.
OF_LABELS = (
    *("conflicting-labels", "imbalance", "label-column", "labels-of-one-file", "missing-labels"),
    *("rare-labels", "similar-labels", "single-label", "suspected-labels", "giveaway-columns"),
)
# What needs labels, which may be numbers.
OF_ANY_LABELS = ("conflicting-labels", "label-column", "giveaway-columns")
# What needs a second corpus.
OF_TWO = ("labels-of-one-file", "near-overlap", "overlap")

TOO_FEW = f"fewer than two labels have {label_checks.FOLDS} different texts"


def check(
    texts: Corpus | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    against: Corpus | tuple[Sequence[str], Sequence[Any] | None] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    **settings: Any,
) -> CheckResult:
    """Look for faults in labeled texts, before a model is trained on them.

    Parameters
    ----------
    texts : Corpus or sequence of str
        The documents; a corpus has its labels with it.
    labels : sequence of str, or of lists of str, optional
        One label for each document; or a list, tuple or set of any number of labels for each.
        Without labels the texts alone are checked.
    against : Corpus or (texts, labels), optional
        Other documents, such as those to test on, that should have none in common with these.
    columns : mapping of str to sequence, optional
        Further columns of the table, by name, with a value for each document: do they give the
        label away?
    **settings
        Of :class:`CheckSettings`: ``task``, ``skip``, ``similarity``, ``examples`` and ``jobs``.

    Returns
    -------
    CheckResult

    Raises
    ------
    DataError
        If the lengths differ, or an item is not a text.
    UsageError
        For wrong settings, columns without names, or documents that are tokens.

    Examples
    --------
    >>> import textreg
    >>> result = textreg.check(["It broke.", "It  broke.", "It works."], ["neg", "pos", "pos"])
    >>> result.find("conflicting-labels").count
    2
    """
    if isinstance(texts, Corpus):
        if labels is not None:
            raise UsageError("a corpus has its labels with it: leave out labels.")
        corpus = texts
    else:
        corpus = Corpus(texts=check_documents(texts), labels=labels)
    against = as_corpus(against, "against")
    return check_corpus(corpus, against, CheckSettings(**settings), columns=columns)


def check_corpus(  # noqa: PLR0913  # its options are its interface
    corpus: Corpus,
    against: Corpus | None = None,
    settings: CheckSettings | None = None,
    *,
    columns: Mapping[str, Sequence[Any]] | None = None,
    title: str = "documents",
    remedy: str = "",
    progress: Progress | None = None,
) -> CheckResult:
    """As :func:`check`, of corpora that are there.

    Parameters
    ----------
    corpus : Corpus
        The documents. ``corpus.skipped`` are told as unreadable.
    against : Corpus, optional
        Other documents, as of :func:`check`.
    settings : CheckSettings, optional
        What to look for.
    columns : mapping of str to sequence, optional
        As of :func:`check`.
    title : str, default "documents"
        What they are called.
    remedy : str, default ""
        How to read rows of ``corpus.skipped`` that are in another encoding.
    progress : callable, optional
        Called with a stage, the number done and the total.

    Returns
    -------
    CheckResult
    """
    settings = settings or CheckSettings()
    documents = Documents(corpus, settings)
    columns = _columns(columns, len(documents))
    other = None if against is None else Documents(against, settings)
    numbers = settings.task == Regression.name
    counts = Counter[str]() if numbers else label_checks.count_labels(corpus)
    rows_of = same_texts(documents.texts)
    findings: list[Finding] = [
        *_unreadable(documents, remedy),
        *text_findings(documents),
        *copy_findings(documents, rows_of),
    ]
    if other is not None:
        findings.append(overlap(documents, rows_of, other))
    if settings.wants("near-duplicates", "near-overlap"):
        findings += near_findings(documents, rows_of, other)
    unchecked = list(_unchecked(documents, other))
    if not columns and documents.labels is not None and settings.wants("giveaway-columns"):
        unchecked.append(Unchecked("giveaway-columns", "there are no further columns"))
    if columns and documents.labels is not None:
        findings.append(label_checks.giveaway_columns(documents, columns))
    if numbers and documents.labels is not None:
        findings.append(label_checks.not_numbers(documents))
    if counts:
        findings += label_checks.label_findings(documents, counts)
        if other is not None and other.labels is not None:
            findings.append(label_checks.labels_of_one(documents, other))
        if settings.wants("suspected-labels"):
            # A variant of its label is no wrong one.
            unified = Documents(with_labels(corpus, label_variants(counts)), settings)
            judged = label_checks.out_of_sample(unified, rows_of, progress)
            if judged is None:
                unchecked.append(Unchecked("suspected-labels", TOO_FEW))
            else:
                findings.append(label_checks.suspected_labels(unified, judged))
    wanted = [finding for finding in findings if finding.count and settings.wants(finding.name)]
    # The worst level first, and of one level the largest share.
    wanted.sort(key=lambda one: (LEVELS.index(one.level), -one.share, one.name))
    return CheckResult(
        title=title,
        documents=len(documents),
        columns=dict(corpus.columns),
        labels=tuple(label_checks.ranking(counts)),
        lengths=lengths_of(documents),
        scripts=tuple(documents.script_counts.most_common()),
        findings=tuple(wanted),
        unchecked=tuple(unchecked),
    )


def _columns(columns: Any, n: int) -> dict[str, Sequence[Any]]:
    """Further columns as lists; DataError where one has not a value for each document."""
    names = [] if columns is None else column_names(columns)
    if names is None:
        raise UsageError(f"columns must be a mapping of names to columns, not {columns!r:.60}.")
    lists = {str(name): as_column(columns[name], str(name)) for name in names}
    for name, values in lists.items():
        if len(values) != n:
            raise DataError(
                f"{n:,} texts but {len(values):,} values in the column '{name}': give one for each "
                "text."
            )
    return lists


def _unreadable(documents: Documents, remedy: str) -> Iterator[Finding]:
    skipped = documents.corpus.skipped
    if not len(skipped):
        return
    reasons = tuple((group.reason, group.rows) for group in skipped.by_reason())
    shown = list(zip(skipped, range(documents.settings.examples), strict=False))
    examples = tuple(Example(row.where, "", row.problem) for row, _ in shown)
    what = "not readable: " + "; ".join(f"{rows:,} {why}" for why, rows in reasons)
    details = {"reasons": reasons, "remedy": remedy}
    total = len(documents) + len(skipped)
    yield Finding("unreadable-rows", len(skipped), total, examples, what, details)


def _unchecked(documents: Documents, other: Documents | None) -> Iterator[Unchecked]:
    """What was not looked for, and why."""
    settings = documents.settings

    skipped = settings.skip or frozenset()

    def among(names: Iterable[str], why: str) -> Iterator[Unchecked]:
        return (Unchecked(name, why) for name in names if name not in skipped)

    yield from (Unchecked(name, "left out (--skip)") for name in sorted(skipped))
    for name in NEEDS:
        if (package := lacking(name)) and (other is not None or name not in OF_TWO):
            extra = shell_line(["pip", "install", "textreg[check]"])
            yield from among([name], f"{package} is not installed: {extra}")
    if documents.labels is None:
        yield from among(OF_LABELS, "the documents have no labels")
    elif settings.task == Regression.name:
        of_classes = (name for name in OF_LABELS if name not in OF_ANY_LABELS)
        yield from among(of_classes, "the labels are numbers")
    if other is None:
        yield from among(OF_TWO, "there is no second file (--against FILE)")

"""Documents with the same text, or nearly the same, within a corpus and across two.

Near duplicates: candidates by MinHash, each confirmed by its similarity. A text is the set of its
words and pairs of neighboring words, and two texts are as similar as the sets' Jaccard index. Texts
whose MinHash signatures agree in one of some bands are candidates (broder1997; leskovec2014,
section 3.4).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from textreg.checking.documents import Documents, Finding, is_missing
from textreg.records import Int64s, Tokens


def plain(text: str) -> str:
    """A text without what nobody sees: in normal form NFC, every run of white space as a blank."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def same_texts(texts: Sequence[str]) -> dict[str, list[int]]:
    """The rows of every text that is not missing, as :func:`plain` writes it."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if not is_missing(key := plain(text)):
            rows.setdefault(key, []).append(row)
    return rows


def copy_findings(documents: Documents, rows_of: Mapping[str, list[int]]) -> Iterator[Finding]:
    """Documents with the same text, and with the same or with other labels."""
    groups = [rows for rows in rows_of.values() if len(rows) > 1]
    labels, n = documents.labels, len(documents)
    conflicting = 0
    same: list[list[int]] = []
    differing: list[list[int]] = []
    for rows in groups:
        by_label: dict[object, list[int]] = {}
        for row in rows:
            by_label.setdefault(None if labels is None else labels[row], []).append(row)
        same += [alike for alike in by_label.values() if len(alike) > 1]
        if len(by_label) > 1:
            conflicting += len(rows)
            differing.append([alike[0] for alike in by_label.values()])
    same.sort(key=len, reverse=True)
    repeated, conflicts = sum(map(len, same)) - len(same), len(differing)
    what = f"text and label of an earlier document; different texts: {len(same):,}"
    examples = documents.group_examples(same)
    yield Finding("duplicates", repeated, n, examples, what, {"texts": len(same)})
    what = f"the text of another document, and another label; different texts: {conflicts:,}"
    examples = documents.group_examples(differing)
    yield Finding("conflicting-labels", conflicting, n, examples, what, {"texts": conflicts})


def overlap(documents: Documents, rows_of: Mapping[str, list[int]], other: Documents) -> Finding:
    """Documents of another corpus whose text this one has."""
    places: dict[int, str] = {}
    conflicting = 0
    for row, text in enumerate(other.texts):
        rows = rows_of.get(plain(text))
        if not rows:
            continue
        places[row] = f"is {documents.placed(rows)}"
        if documents.labels is not None and other.labels is not None:
            conflicting += other.labels[row] not in [documents.labels[it] for it in rows]
    differ = f"; with another label there: {conflicting:,}" if conflicting else ""
    what = f"the text of a document of the first{differ}"
    return other.finding("overlap", places, what, places.__getitem__, conflicting=conflicting)


# Length of a signature.
HASHES = 128
# Bands are chosen so that no larger share of pairs at the least similarity is missed.
MISSED = 0.02
# In a band that more texts share, not all pairs are compared, so that time stays linear.
CROWD = 20

_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def near_findings(
    documents: Documents, rows_of: dict[str, list[int]], other: Documents | None
) -> Iterator[Finding]:
    """Documents that are nearly the same as others, in one corpus and across two.

    rows_of: the documents of every text of the first corpus.
    """
    least = documents.settings.similarity
    n, texts = len(documents), [rows[0] for rows in rows_of.values()]
    sets = _sets(documents.tokens, texts)
    if other is not None:
        # Texts of both are not near the same but the same.
        second = {plain(text): row for row, text in enumerate(other.texts)}
        more = [row for text, row in second.items() if not is_missing(text) and text not in rows_of]
        sets += _sets(other.tokens, more)
        texts += [n + row for row in more]
    keys = np.array(texts, dtype=np.int64)
    pairs = keys[near_pairs(sets, least)]
    within = (pairs < n).all(axis=1)
    copies = {rows[0]: rows for rows in rows_of.values()}
    groups = [
        sorted(row for text in group for row in copies[text]) for group in _groups(pairs[within])
    ]
    mixed = [len({documents.label(row) for row in rows}) > 1 for rows in groups]
    differing = sum(len(rows) for rows, several in zip(groups, mixed, strict=True) if several)
    worst = sorted(range(len(groups)), key=lambda at: (not mixed[at], -len(groups[at]), groups[at]))
    examples = documents.group_examples(groups[at] for at in worst)
    count = sum(map(len, groups))
    what = f"nearly the same as another (similarity {least:g} or more); groups: {len(groups):,}"
    what += f"; with different labels: {differing:,}" if differing else ""
    details = {"groups": len(groups), "similarity": least, "conflicting": differing}
    yield Finding("near-duplicates", count, n, examples, what, details)
    if other is not None:
        yield _near_overlap(documents, other, pairs)


def near_pairs(sets: Sequence[NDArray[np.uint32]], least: float) -> Int64s:
    """(pairs, 2) places of sets whose Jaccard index is at least ``least``.

    All that share a band are compared, or in a crowd each with its neighbors and the first, in an
    order that depends on the sets alone: so the result does not depend on the order of sets.
    """
    near = []
    for one, two in sorted(_candidates(sets, least)):
        a, b = sets[one], sets[two]
        small, large = sorted((len(a), len(b)))
        if small < least * large:
            continue
        common = np.intersect1d(a, b, assume_unique=True).size
        index = common / (small + large - common)
        if index >= least:
            near.append((one, two))
    return np.array(near, dtype=np.int64).reshape(-1, 2)


def _sets(tokens: Tokens, rows: Sequence[int]) -> list[NDArray[np.uint32]]:
    """Hashes of the words and pairs of neighboring words of documents, sorted, each once."""
    digests = (hashlib.sha1(word.encode()).digest()[:4] for word in tokens.vocabulary)
    word_hash = np.frombuffer(b"".join(digests), dtype="<u4").astype(np.uint64)
    ids, ptr = tokens.ids, tokens.token_document_ptr
    sets = []
    for row in rows:
        words = word_hash[ids[ptr[row] : ptr[row + 1]]]
        joined = words[:-1] * _MIX[0] + words[1:] * _MIX[1]
        hashes = np.concatenate([words, joined >> np.uint64(32)])
        sets.append(np.unique(hashes.astype(np.uint32)))
    return sets


def _candidates(sets: Sequence[NDArray[np.uint32]], least: float) -> set[tuple[int, int]]:
    """Pairs of sets that share a band of their signatures."""
    full = [index for index, hashes in enumerate(sets) if len(hashes)]
    if len(full) < 2:
        return set()
    from datasketch import MinHash

    empty = MinHash(num_perm=HASHES, hashfunc=int)
    signatures = np.empty((len(full), HASHES), dtype=np.uint64)
    for place, index in enumerate(full):
        signature = empty.copy()
        signature.update_batch(sets[index].tolist())
        signatures[place] = signature.hashvalues
    # An order of the sets alone: of equal ones, which is the first makes no difference.
    contents = [hashlib.sha1(sets[index].tobytes()).digest() for index in full]
    order = np.array(sorted(range(len(full)), key=contents.__getitem__))
    rows = _rows_of_a_band(least)
    pairs: set[tuple[int, int]] = set()
    for start in range(0, HASHES - rows + 1, rows):
        band = np.ascontiguousarray(signatures[order, start : start + rows])
        _, code = np.unique(band, axis=0, return_inverse=True)
        ranked = np.argsort(code.ravel(), kind="stable")
        ends = np.flatnonzero(np.diff(code.ravel()[ranked])) + 1
        for bucket in np.split(ranked, ends):
            if len(bucket) > 1:
                members = [full[int(order[place])] for place in bucket]
                pairs.update((min(pair), max(pair)) for pair in _compared(members))
    return pairs


def _compared(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The pairs to compare of sets that share a band."""
    if len(members) <= CROWD:
        yield from combinations(members, 2)
        return
    yield from pairwise(members)
    yield from ((members[0], member) for member in members[2:])


def _rows_of_a_band(least: float) -> int:
    """The most hashes of a band that miss few pairs of the least similarity: (1 - s^r)^b."""
    fit = (r for r in range(HASHES // 2, 0, -1) if (1 - least**r) ** (HASHES // r) <= MISSED)
    return next(fit, 1)


def _groups(pairs: NDArray[np.int64]) -> list[list[int]]:
    """What is linked by pairs, directly or by others between."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names, codes = np.unique(pairs, return_inverse=True)
    one, two = codes.reshape(-1, 2).T
    links = coo_array((np.ones(len(one)), (one, two)), shape=(len(names), len(names)))
    _, group_of = connected_components(links, directed=False)
    groups: dict[int, list[int]] = {}
    for name, group in zip(names.tolist(), group_of.tolist(), strict=True):
        groups.setdefault(group, []).append(name)
    return list(groups.values())


def _near_overlap(documents: Documents, other: Documents, pairs: Int64s) -> Finding:
    """Documents of the second corpus that are linked to one of the first."""
    n = len(documents)
    near: dict[str, str] = {}
    for group in _groups(pairs):
        if group[0] < n <= group[-1]:
            first_rows = [row for row in group if row < n]
            place = f"is near {documents.placed(first_rows)}"
            near |= {plain(other.texts[row - n]): place for row in group if row >= n}
    texts = map(plain, other.texts) if near else ()
    places = {row: near[text] for row, text in enumerate(texts) if text in near}
    least = documents.settings.similarity
    what = f"nearly the same as one of the first (similarity {least:g} or more)"
    return other.finding("near-overlap", places, what, places.__getitem__, similarity=least)

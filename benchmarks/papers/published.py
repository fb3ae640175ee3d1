"""Published results: accuracies and sizes, in percent, by method and task.

Tables 2 and 3 of Skianis, Tziortziotis & Vazirgiannis (2018), table 2 of Yogatama & Smith (2014),
and the seconds of sections 5.6 and 5.4.
"""

from __future__ import annotations

Table = dict[str, dict[str, float]]
"""A value by method and task."""


def _table(methods: str, rows: str, scale: float = 1.0) -> Table:
    """A table from rows of a task and its values, one for each method."""
    columns: Table = {method: {} for method in methods.split()}
    for row in rows.strip().splitlines():
        task, *values = row.split()
        for method, value in zip(columns, values, strict=True):
            columns[method][task] = round(scale * float(value), 4)
    return columns


_METHODS = "none lasso ridge elastic omp lda lsi sentence communities clusters gomp"

SKIANIS_ACCURACY = _table(
    _METHODS,
    """
    science            .946 .916 .954 .954 .964 .968 .968 .942 .967 .968 .953
    sports             .908 .907 .925 .920 .949 .959 .964 .966 .959 .946 .951
    religion           .894 .876 .895 .890 .902 .918 .907 .934 .911 .916 .902
    computer           .846 .843 .869 .856 .876 .891 .885 .904 .885 .911 .902
    vote               .606 .643 .616 .622 .684 .658 .653 .656 .640 .651 .687
    movie              .865 .860 .870 .875 .860 .900 .895 .895 .895 .890 .850
    amazon-books       .750 .770 .760 .780 .800 .790 .795 .785 .790 .800 .805
    amazon-dvd         .765 .735 .770 .760 .785 .800 .805 .785 .795 .795 .820
    amazon-electronics .790 .800 .800 .825 .830 .800 .815 .805 .820 .815 .800
    amazon-kitchen     .760 .800 .775 .800 .825 .845 .860 .855 .840 .855 .830
    """,
    100.0,
)

SKIANIS_SIZE = _table(
    _METHODS,
    """
    science            100 1.0 100 63 2.7 19 20  86 19 21  5.8
    sports             100 1.0 100  5 1.8 60 11 6.4 55 44  7.7
    religion           100 1.1 100  3 1.5 94 31  99 10 85  1.5
    computer           100 1.6 100  7 0.6 40 35  77 38 18  4.9
    vote               100 0.1 100  8 5.0 15 16  13 97 13  1.5
    movie              100 1.3 100 59 0.9 72 81  55 90 62  2.3
    amazon-books       100 3.3 100 14 4.6 41 74  72 90 99  8.3
    amazon-dvd         100 2.0 100 28 2.8 64  8   8 58 64  9.0
    amazon-electronics 100 4.0 100  6 6.3 10  8  43  8  9 12.0
    amazon-kitchen     100 4.5 100 79 4.3 73 44  27 75 46  6.5
    """,
)

YOGATAMA_ACCURACY = _table(
    "lasso ridge elastic sentence",
    """
    science            90.63 91.90 91.65 96.20
    sports             91.08 93.34 93.71 95.10
    religion           90.52 92.47 92.47 92.75
    computer           85.84 86.74 87.13 90.86
    amazon-books       76.50 80.50 81.50 84.00
    amazon-dvd         78.50 73.50 79.00 81.50
    amazon-music       73.00 72.00 73.50 80.00
    amazon-electronics 81.50 86.00 86.00 84.00
    movie              76.00 87.50 89.00 88.00
    vote               73.14 72.79 72.79 73.95
    """,
)

YOGATAMA_SIZE = _table(
    "lasso ridge elastic sentence",
    """
    science            1.0 100 34 12
    sports             2.0 100 15  3
    religion           0.3 100 48 94
    computer           2.0 100 24 10
    amazon-books       0.6 100  9  6
    amazon-dvd         3.0 100  5  8
    amazon-music       5.0 100 14 14
    amazon-electronics 7.0 100 43 12
    movie              0.3 100 14  5
    vote               2.0 100 44  6
    """,
)

PAPERS = {
    "Skianis et al.": (SKIANIS_ACCURACY, SKIANIS_SIZE),
    "Yogatama & Smith": (YOGATAMA_ACCURACY, YOGATAMA_SIZE),
}
"""Tables of accuracies and of sizes by paper."""

SECONDS = {
    "sports": {"lasso": 27.0, "ridge": 18.0, "elastic": 10.0, "sentence": 33.0},
    "computer": {"lasso": 7.0, "ridge": 1.4, "elastic": 0.8, "omp": 4.0},
}
"""Seconds of the one best fit: Yogatama & Smith on sports (8 processors of 2.4 GHz), Skianis et al.
on computer (4 cores of 3 GHz)."""


def best(task: str) -> tuple[float, str, str] | None:
    """Best published accuracy of a task, its method and paper; None if no paper has the task."""
    cells = [
        (values[task], method, paper)
        for paper, (accuracy, _) in PAPERS.items()
        for method, values in accuracy.items()
        if task in values
    ]
    return max(cells, key=lambda cell: cell[0]) if cells else None

from textreg._core.reference.ragged import copy_rows as copy_rows
from textreg._core.reference.ragged import equal_rows as equal_rows
from textreg._core.reference.ragged import hash_rows as hash_rows
from textreg._core.reference.ragged import scatter_rows as scatter_rows

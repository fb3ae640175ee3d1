from textreg._core.reference.stagewise import add_entries as add_entries
from textreg._core.reference.stagewise import add_rows as add_rows
from textreg._core.reference.stagewise import apply_offset as apply_offset
from textreg._core.reference.stagewise import gram_column as gram_column
from textreg._core.reference.stagewise import largest_derivative as largest_derivative

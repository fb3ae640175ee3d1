from textreg._core.reference.text_counts import count as count
from textreg._core.reference.text_counts import document_frequencies as document_frequencies
from textreg._core.reference.text_counts import normalize_rows as normalize_rows
from textreg._core.reference.text_counts import place_rows as place_rows
from textreg._core.reference.text_counts import renumber as renumber
from textreg._core.reference.text_counts import row_norms as row_norms
from textreg._core.reference.text_counts import sentence_sets as sentence_sets
from textreg._core.reference.text_counts import weigh_rows as weigh_rows

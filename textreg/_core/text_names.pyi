from textreg._core.reference.text_names import gram_names as gram_names
from textreg._core.reference.text_names import in_order as in_order
from textreg._core.reference.text_names import merge_names as merge_names
from textreg._core.reference.text_names import number_grams as number_grams

from textreg._core.reference.text_grams import find_grams as find_grams
from textreg._core.reference.text_grams import gram_norms as gram_norms
from textreg._core.reference.text_grams import grams as grams
from textreg._core.reference.text_grams import insert_ngrams as insert_ngrams

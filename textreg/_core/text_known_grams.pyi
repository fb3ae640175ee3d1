from textreg._core.reference.text_known_grams import index_grams as index_grams

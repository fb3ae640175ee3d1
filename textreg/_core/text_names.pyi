from textreg._core.reference.text_names import gram_names as gram_names

from textreg._core.reference.text_rows import WordRows as WordRows

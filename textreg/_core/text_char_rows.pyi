from textreg._core.reference.text_rows import CharRows as CharRows

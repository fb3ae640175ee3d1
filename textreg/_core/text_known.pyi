from textreg._core.reference.text_known import index_names as index_names

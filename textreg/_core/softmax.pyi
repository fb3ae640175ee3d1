from textreg._core.reference.softmax import softmax_product as softmax_product

"""The compiled core and its NumPy twins (``reference``)."""

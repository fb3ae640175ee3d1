"""Work on a Dask cluster: files are read there, and blocks of documents stay there."""

"""Rows in files and Dask frames, read block by block."""

"""Rows in files, read block by block."""

"""Figures of fits, studies and tables, all in one style; needs matplotlib."""

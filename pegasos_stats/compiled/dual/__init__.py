"""Dual coordinate ascent and what polishes its solutions."""

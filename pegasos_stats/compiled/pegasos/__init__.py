"""Pegasos: its steps, as defined and in three faster forms."""

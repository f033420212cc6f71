"""Other names of `pegasos_stats.foreign_names`."""

from pegasos_stats.foreign_names import renamed, suggest_arguments

answering = answering_class = suggest_arguments
__all__ = ["answering", "answering_class", "renamed"]

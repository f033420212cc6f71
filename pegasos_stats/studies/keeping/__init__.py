"""Objects that a user keeps, in files: as fits are, one archive of arrays and JSON."""

from pegasos_stats.studies.keeping.saving import load, save

__all__ = ["load", "save"]

"""Objects in files: one archive of arrays and JSON, without pickle."""

from pegasos_stats.persist.saving import Saved, load, load_saved, save

__all__ = ["Saved", "load", "load_saved", "save"]

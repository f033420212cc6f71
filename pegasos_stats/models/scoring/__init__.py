"""Linear fits for other languages: as SQL, and as JSON."""

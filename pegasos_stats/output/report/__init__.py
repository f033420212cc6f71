"""Reports of fits: one self-contained page, or Markdown."""

"""What there is to say of a fit beside its numbers: a note for each fact."""

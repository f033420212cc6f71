"""What a user fits and gets."""

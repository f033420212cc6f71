"""Tables of actual against predicted labels, and their reports."""

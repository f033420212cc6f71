"""Tables of text: numbers, layout, marks."""

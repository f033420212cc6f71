"""The language of formulas: text is read into a tree, and the tree is computed."""

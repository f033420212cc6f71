"""R's words, permutations and variates."""

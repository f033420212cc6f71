"""Convert users' data to arrays: outcome, predictors and weights."""

"""What predictors do to predictions: effects, contrasts and adjusted predictions."""

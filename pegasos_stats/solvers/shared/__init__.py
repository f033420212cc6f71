"""The fits of all folds and of many lambdas by passes over the rows that they share."""

# Folds of cross-validation, stratified by the levels of the outcome.
# Beside it stands pegasos_stats/studies/selection/folds.py.

# The rows of every level, levels in their order, are shuffled and dealt to the folds like
# cards: 1, 2, ..., k, 1, 2, ...; the next level goes on where the last one ended. So any
# two folds differ by at most one row, in all and in each level.
# y: labels, or a factor.  Value: the fold, 1 to k, that tests each row.
stratified_folds <- function(y, k) {
  folds <- numeric(length(y))
  dealt <- 0
  for (rows in split(seq_along(y), y)) {
    shuffled <- rows[sample.int(length(rows))]
    folds[shuffled] <- (dealt + seq_along(rows) - 1) %% k + 1
    dealt <- dealt + length(rows)
  }
  folds
}

# A matrix with one line for each repeat, drawn one after the other.
repeated_folds <- function(y, k, repeats) {
  t(vapply(1:repeats, function(again) stratified_folds(y, k), numeric(length(y))))
}

# A seed for each fit, drawn after the folds.
fit_seeds <- function(count) {
  sample.int(.Machine$integer.max, count)
}

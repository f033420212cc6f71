# Weights of the rows. Beside it stands pegasos_stats/data/sample.py.

# weights: NULL, numbers for each row, "balanced" (both classes weigh the same), or
# list(negative = , positive = ), one for each class.  y: -1 or +1.
# Value: numbers with mean 1; all 1 where they are all the same.
row_weights <- function(weights, y) {
  n <- length(y)
  if (is.null(weights)) return(rep(1, n))
  if (identical(weights, "balanced")) {
    weights <- list(negative = n / (2 * sum(y < 0)), positive = n / (2 * sum(y > 0)))
  }
  if (is.list(weights)) weights <- ifelse(y < 0, weights$negative, weights$positive)
  if (!isTRUE(all(weights >= 0))) stop("weights must be numbers of 0 or more", call. = FALSE)
  if (!any(weights[y < 0] > 0) || !any(weights[y > 0] > 0)) {
    stop("each level needs a row with a weight above 0", call. = FALSE)
  }
  if (all(weights == weights[1])) return(rep(1, n))
  mean_one(weights)
}

# w / (sum(w) / n), the sum in long double. If it overflows, or the mean is so small
# that it lacks digits, the weights are first multiplied by a power of two, which rounds
# nothing. Weights whose mean is 1 to 1e-14 stay as they are.
mean_one <- function(weights) {
  n <- length(weights)
  mean <- sum(weights) / n
  factor <- if (mean == Inf) 2^-64 else if (mean < 2^-1022) 2^128 else 1
  if (factor != 1) mean <- sum(factor * weights) / n
  if (abs(mean - 1) <= 1e-14) return(weights)
  scaled <- factor * weights / mean
  stopifnot(scaled[weights > 0] >= 2^-1022)
  scaled
}

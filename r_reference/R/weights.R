# Weights of the rows. Counterpart: pegasos_stats/data/sample.py.

# weights: NULL, one number per row, "balanced" (both classes have the same total weight), or
# list(negative = , positive = ), one weight per class.  y: -1 or +1.
# Value: weights with mean 1; exactly 1 if all are equal.
row_weights <- function(weights, y) {
  n <- length(y)
  if (is.null(weights)) return(rep(1, n))
  if (identical(weights, "balanced")) {
    weights <- list(negative = n / (2 * sum(y < 0)), positive = n / (2 * sum(y > 0)))
  }
  if (is.list(weights)) weights <- ifelse(y < 0, weights$negative, weights$positive)
  if (!isTRUE(all(weights >= 0))) stop("weights must be numbers of 0 or more", call. = FALSE)
  if (!any(weights[y < 0] > 0) || !any(weights[y > 0] > 0)) {
    stop("each class needs a row with a weight above 0", call. = FALSE)
  }
  if (all(weights == weights[1])) return(rep(1, n))
  mean_one(weights)
}

# w / (sum(w) / n), with the sum in long double. If the mean is infinite or subnormal, the
# weights are first multiplied by a power of two, which is exact. If the mean is 1 to within
# 1e-14, the weights are returned unchanged.
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

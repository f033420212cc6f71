# The function that is minimised, its dual, and the exact intercept.
# Beside it stands pegasos_stats/objective.py. The sums are loops because sum() and
# mean() accumulate in long double.

# lambda / 2 * ||beta||^2 + mean(weights * loss)
primal <- function(X, y, beta, alpha, lambda, loss = "hinge", weights = rep(1, length(y))) {
  margins <- y * scores(X, beta, alpha)
  total <- 0
  for (i in seq_along(y)) total <- total + weights[i] * loss_value(loss, margins[i])
  norm2 <- 0
  for (b in beta) norm2 <- norm2 + b * b
  lambda / 2 * norm2 + total / length(y)
}

# mean(w * dual_entropy(a / w)) - lambda / 2 * ||beta(a)||^2 with
# beta(a) = sum of a * y * x / (lambda * n), for weights a that are feasible(), and w
# the weights of the rows.
dual <- function(X, y, a, lambda, loss = "hinge", weights = rep(1, length(y))) {
  total <- 0
  for (i in which(weights > 0)) {
    total <- total + weights[i] * dual_entropy(loss, a[i] / weights[i])
  }
  beta <- weighted_rows(X, a * y) / (lambda * length(y))
  norm2 <- 0
  for (b in beta) norm2 <- norm2 + b * b
  total / length(y) - lambda / 2 * norm2
}

# The sum of weights * rows.
weighted_rows <- function(X, weights) {
  if (is.matrix(X)) return(drop(weights %*% X))
  total <- rep(0, X$p)
  for (i in seq_along(weights)) total <- row_add(X$rows[[i]], weights[i], total)
  total
}

# Any weights, made a point that the dual allows: from 0 to the weight of the row, and
# with an intercept of the same sum in both classes, for which the larger class is
# scaled down.
feasible <- function(a, y, intercept = TRUE, weights = rep(1, length(y))) {
  a <- pmin(pmax(a, 0), weights)
  if (!intercept) return(a)
  class_sums <- c(sum(a[y < 0]), sum(a[y > 0]))
  if (class_sums[1] == class_sums[2]) return(a)
  larger <- if (class_sums[1] > class_sums[2]) y < 0 else y > 0
  a[larger] <- a[larger] * (min(class_sums) / max(class_sums))
  a
}

# P(beta, alpha) is at most `gap` above the least value of P, since dual <= min P. The
# dual is 0 at a = 0, so a point below 0 is not taken.
certificate <- function(X, y, beta, alpha, a, lambda, loss = "hinge", intercept = TRUE,
                        weights = rep(1, length(y))) {
  above <- primal(X, y, beta, alpha, lambda, loss, weights)
  a <- feasible(a, y, intercept, weights)
  below <- max(0, dual(X, y, a, lambda, loss, weights))
  list(objective = above, dual_objective = below, gap = above - below)
}

# The alpha that minimises mean(weights * loss(y * (scores + alpha))).
best_intercept <- function(scores, y, loss = "hinge", weights = rep(1, length(y))) {
  if (loss == "hinge") middle_of_kinks(scores, y, weights)
  else root_of_slope(scores, y, weights)
}

# The hinge risk is a broken line with a kink at y - score for every row. Its slope grows
# by the weight of the row there, from minus the weight of the class +1: least where the
# weights passed reach that, in the middle of two kinks if they do so exactly.
middle_of_kinks <- function(scores, y, weights) {
  kinks <- y - scores
  ranked <- order(kinks)
  passed <- cumsum(weights[ranked])
  upper <- sum(weights[y > 0])
  rounding <- 1e-12 * passed[length(y)]
  first <- which(passed >= upper - rounding)[1]
  second <- which(passed > upper + rounding)[1]
  (kinks[ranked[first]] + kinks[ranked[second]]) / 2
}

# The mean log loss is least where the slope weights of both classes have the same sum;
# that of the class -1 increases with alpha. Bisection, to the last bit, of the logs of
# the sums: they keep their digits where every margin is large.
root_of_slope <- function(scores, y, weights) {
  even <- log(sum(weights[y > 0]) / sum(weights[y < 0]))
  low <- even - max(scores)
  high <- even - min(scores)
  repeat {
    alpha <- (low + high) / 2
    if (alpha <= low || alpha >= high) return(alpha)
    left <- log_slope_sum(-(scores[y < 0] + alpha), weights[y < 0])
    right <- log_slope_sum(scores[y > 0] + alpha, weights[y > 0])
    if (left < right) low <- alpha else high <- alpha
  }
}

# log(sum(w * slope(m))): the log of a slope weight is minus the log loss at -m.
log_slope_sum <- function(margins, weights) {
  logs <- log(weights) + sapply(-margins, function(m) -loss_value("log", m))
  largest <- max(logs)
  largest + log(sum(exp(logs - largest)))
}

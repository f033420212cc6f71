# The objective, its dual, and the exact intercept. Counterparts: certificate.py and
# intercept.py of pegasos_stats/solvers. The sums are loops because sum() and mean()
# accumulate in long double.

# lambda / 2 * ||beta||^2 + mean(weights * loss).  offset: fixed part of each score.
primal <- function(X, y, beta, alpha, lambda, loss = "hinge", weights = rep(1, length(y)),
                   offset = rep(0, length(y))) {
  margins <- y * (scores(X, beta, alpha) + offset)
  total <- 0
  for (i in seq_along(y)) total <- total + weights[i] * loss_value(loss, margins[i])
  norm2 <- 0
  for (b in beta) norm2 <- norm2 + b * b
  lambda / 2 * norm2 + total / length(y)
}

# mean(w * dual_entropy(a / w) - a * y * offset) - lambda / 2 * ||beta(a)||^2 with
# beta(a) = sum of a * y * x / (lambda * n). a: dual weights that are feasible(). w: the
# weights of the rows.
dual <- function(X, y, a, lambda, loss = "hinge", weights = rep(1, length(y)),
                 offset = rep(0, length(y))) {
  total <- 0
  for (i in which(weights > 0)) {
    total <- total + weights[i] * dual_entropy(loss, a[i] / weights[i])
    total <- total - a[i] * y[i] * offset[i]
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

# Make dual weights feasible: clip them to [0, weight of the row] (for the squared hinge,
# to [0, Inf)). With an intercept, scale down the class with the larger sum, so that both
# classes have the same sum.
feasible <- function(a, y, intercept = TRUE, weights = rep(1, length(y))) {
  a <- pmin(pmax(a, 0), weights)
  if (!intercept) return(a)
  class_sums <- c(sum(a[y < 0]), sum(a[y > 0]))
  if (class_sums[1] == class_sums[2]) return(a)
  larger <- if (class_sums[1] > class_sums[2]) y < 0 else y > 0
  a[larger] <- a[larger] * (min(class_sums) / max(class_sums))
  a
}

# P(beta, alpha) is at most `gap` above the minimum of P, because dual <= min P. The dual is
# 0 at a = 0, so a negative dual objective is replaced by 0.
certificate <- function(X, y, beta, alpha, a, lambda, loss = "hinge", intercept = TRUE,
                        weights = rep(1, length(y)), offset = rep(0, length(y))) {
  above <- primal(X, y, beta, alpha, lambda, loss, weights, offset)
  most <- if (loss == "squared_hinge") ifelse(weights > 0, Inf, 0) else weights
  a <- feasible(a, y, intercept, most)
  below <- max(0, dual(X, y, a, lambda, loss, weights, offset))
  list(objective = above, dual_objective = below, gap = above - below)
}

# The alpha that minimises mean(weights * loss(y * (scores + alpha))). Sums of weights count
# as equal if they differ by less than 1e-12 of the total weight of the smaller class.
best_intercept <- function(scores, y, loss = "hinge", weights = rep(1, length(y))) {
  counts <- weights > 0
  given <- list(scores[counts], y[counts], weights[counts])
  best <- switch(loss, hinge = middle_of_kinks, squared_hinge = root_of_line, root_of_slope)
  do.call(best, given)
}

# As a function of alpha the hinge risk is piecewise linear, with a kink at y - score for
# every row. Its derivative starts at minus the total weight of the class +1, and increases
# at each kink by the weight of the row. The minimum is at the kink where the sum of weights
# reaches this total, or midway between two kinks if they are equal there. If the class -1
# has the smaller weight, the kinks are processed from the right.
middle_of_kinks <- function(scores, y, weights) {
  goal <- sum(weights[y > 0])
  if (goal > sum(weights[y < 0])) return(0 - middle_of_kinks(-scores, -y, weights))
  kinks <- y - scores
  ranked <- order(kinks)
  passed <- cumsum(weights[ranked])
  first <- which(passed >= goal - 1e-12 * goal)[1]
  second <- which(passed > goal + 1e-12 * goal)[1]
  (kinks[ranked[first]] + kinks[ranked[second]]) / 2
}

# The derivative of the mean squared hinge is piecewise linear in alpha, with a kink at
# y - score for every row. Its root is left of the first kink at which it is not negative.
# There, the margin is below 1 for rows of class -1 with kinks further left, and for rows of
# class +1 with kinks at this kink or further right.
root_of_line <- function(scores, y, weights) {
  kinks <- y - scores
  ranked <- order(kinks)
  kinks <- kinks[ranked]
  low <- y[ranked] < 0
  left_of <- function(v) {
    below <- ifelse(low, v, 0)
    above <- ifelse(low, 0, v)
    cumsum(below) - below + rev(cumsum(rev(above)))
  }
  apart <- kinks - kinks[1]
  totals <- left_of(weights[ranked])
  sums <- left_of(weights[ranked] * apart)
  k <- which(totals * apart >= sums)[1]
  if (totals[k] > 0) kinks[1] + sums[k] / totals[k] else kinks[k]
}

# The mean log loss is minimal if the sum of weights / (1 + exp(-z)), z = scores + alpha,
# equals the total weight of the class +1. Newton's method inside a bracket: a step that
# leaves the bracket, or is more than half as long as the step before, is replaced by a
# bisection.
root_of_slope <- function(scores, y, weights) {
  plus <- sum(weights[y > 0])
  minus <- sum(weights[y < 0])
  low <- log(plus) - log(minus) - max(scores)
  high <- log(plus) - log(minus) - min(scores)
  alpha <- (low + high) / 2
  moved <- high - low
  for (step in 1:200) {
    at <- log_excess(scores + alpha, weights, plus, minus)
    if (at$excess < 0) low <- alpha else high <- alpha
    new <- alpha - at$excess / at$slope
    if (new < low || new > high || abs(new - alpha) > moved / 2) new <- (low + high) / 2
    moved <- abs(new - alpha)
    alpha <- new
    if (moved <= 2^-52 * max(1, abs(alpha))) break
  }
  alpha
}

# Let D be the total weight of the rows with z > 0 minus that of the class +1, and
# t = weights / (1 + exp(|z|)). At the root, D + sum(t, z <= 0) = sum(t, z > 0). The
# function returns the difference of the logarithms of both sides, with D on the side where
# it is positive, and its derivative, which is between 1/2 and 2 even for tiny t.
log_excess <- function(z, weights, plus, minus) {
  above <- z > 0
  lighter <- min(plus, minus)
  D <- if (plus <= minus) sum(weights[above]) - plus else minus - sum(weights[!above])
  if (abs(D) <= 1e-12 * lighter) D <- 0
  left <- log_tails(-z[!above], weights[!above], max(D, 0))
  right <- log_tails(z[above], weights[above], max(-D, 0))
  list(excess = left$value - right$value, slope = left$slope + right$slope)
}

# log(more + sum(weights / (1 + exp(z)))) for z >= 0, and minus its derivative with respect
# to a shift of z.
log_tails <- function(z, weights, more) {
  logs <- c(log(weights) - z - log1p(exp(-z)), log(more))
  largest <- max(logs)
  shares <- exp(logs - largest)
  list(value = largest + log(sum(shares)),
       slope = sum(shares[seq_along(z)] / (1 + exp(-z))) / sum(shares))
}

# The pairs bootstrap. Counterpart: pegasos_stats/models/inference/bootstrap.py.
#
# Efron, Annals of Statistics 7 (1979); Davison & Hinkley (1997), section 6.2.

# Row numbers of each resample, from 1: one line per resample. The caller sets the seed once
# before all resamples.
bootstrap_rows <- function(n, replicates) {
  t(sapply(1:replicates, function(b) sample(n, n, replace = TRUE)))
}

# Coefficients of each resample, one line per resample, the intercept first. Weights are
# drawn with their rows and scaled to mean 1. A resample with a single class gives NA.
bootstrap_logit <- function(X, y, lambda, replicates, weights = rep(1, length(y))) {
  rows <- bootstrap_rows(length(y), replicates)
  t(apply(rows, 1, function(i) penalised_logit(X[i, ], y[i], lambda, weights[i])))
}

# Minimise lambda/2 ||beta||^2 + mean(w log(1 + exp(-m))), m = y (X beta + alpha), by
# Newton's method; a step that increases the objective is halved.
penalised_logit <- function(X, y, lambda, weights) {
  Z <- cbind(1, X)
  if (length(unique(y)) < 2) return(rep(NA, ncol(Z)))
  w <- weights / mean(weights)
  penalty <- diag(c(0, rep(lambda, ncol(X))))
  objective <- function(theta) {
    sum(theta * (penalty %*% theta)) / 2 +
      mean(w * sapply(y * (Z %*% theta), function(m) loss_value("log", m)))
  }
  theta <- rep(0, ncol(Z))
  for (step in 1:50) {
    s <- 1 / (1 + exp(y * drop(Z %*% theta)))
    gradient <- penalty %*% theta - crossprod(Z, w * y * s) / length(y)
    hessian <- penalty + crossprod(Z, w * s * (1 - s) * Z) / length(y)
    d <- -drop(solve(hessian, gradient))
    if (max(abs(d)) <= 1e-12 * max(1, abs(theta))) break
    share <- 1
    while (objective(theta + share * d) > objective(theta) && share > 1e-6) {
      share <- share / 2
    }
    theta <- theta + share * d
  }
  theta
}

# Limits of each coefficient, one line per coefficient. estimate: coefficients of the fit to
# all rows. Envelope: the estimate plus and minus the larger of its distances to the lower
# and to the upper (1 - level) / 2 quantile of the resamples. Infinite resamples count on
# both sides.
bootstrap_interval <- function(estimates, estimate, interval, level = 0.95) {
  q <- c((1 - level) / 2, (1 + level) / 2)
  limits <- function(j) {
    t <- sort(estimates[, j])
    k <- max(1, floor(q[1] * (length(t) + 1) + 1e-9))
    infinite <- rep(Inf, sum(is.infinite(t)))
    t <- c(-infinite, t[is.finite(t)], infinite)
    reach <- max(estimate[j] - t[k], t[length(t) + 1 - k] - estimate[j])
    switch(interval,
      envelope = estimate[j] + c(-reach, reach),
      percentile = quantile(t, q),
      normal = estimate[j] + qnorm(q) * sd(t),
      basic = 2 * estimate[j] - rev(quantile(t, q)))
  }
  unname(t(sapply(seq_along(estimate), limits)))
}

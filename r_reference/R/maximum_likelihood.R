# Logistic regression by maximum likelihood, lambda = 0: Newton's method on standardized
# columns, the duality gap, and whether the estimate exists. Counterpart:
# pegasos_stats/solvers/maximum_likelihood.py.
#
# Albert & Anderson, Biometrika 71 (1984).

# Value: beta (NA for columns that earlier columns determine), alpha, a (dual weights),
# scores, rank, n_iter, step (the length of Newton's next step in standard errors),
# certificate, and exists: TRUE if the existence of the estimate is proved. Only then are
# the other values those of the estimate.
maximum_likelihood <- function(X, y, intercept = TRUE, weights = rep(1, length(y)),
                               offset = rep(0, length(y))) {
  design <- standardized_design(X, weights, intercept)
  positive <- weights > 0
  problem <- list(Z = design$Z[positive, , drop = FALSE], y = y[positive],
                  w = weights[positive], offset = offset[positive], firth = FALSE)
  point <- maximise(problem, rep(0, ncol(problem$Z)))
  at <- dual_point(point, problem, length(y))
  original <- original_scale(point$theta, design)
  a <- rep(0, length(y))
  a[positive] <- at$a
  list(beta = original$beta, alpha = original$alpha, a = a,
       scores = drop(design$Z %*% point$theta) + offset, rank = ncol(design$Z),
       n_iter = point$n_iter, step = at$step, certificate = at$certificate,
       exists = point$converged && (at$inside || !is.null(overlap(problem)$proof)))
}

# Columns, centred if there is an intercept, and divided by their standard deviations; the
# constant comes first. Columns are omitted if their residual after regression on the
# earlier columns is below 1e-7 of the standard deviation.
standardized_design <- function(X, weights, intercept) {
  rows <- X[weights > 0, , drop = FALSE]
  centre <- if (intercept) colMeans(rows) else rep(0, ncol(X))
  rows <- sweep(rows, 2, centre)
  scale <- sqrt(colMeans(rows^2))
  largest <- apply(abs(X[weights > 0, , drop = FALSE]), 2, max)
  varies <- which(scale > 4 * .Machine$double.eps * largest)
  decomposed <- qr(sweep(rows[, varies, drop = FALSE], 2, scale[varies], "/"), tol = 1e-7)
  columns <- varies[sort(decomposed$pivot[seq_len(decomposed$rank)])]
  Z <- sweep(sweep(X[, columns, drop = FALSE], 2, centre[columns]), 2, scale[columns], "/")
  list(Z = unname(cbind(if (intercept) rep(1, nrow(X)), Z)), centre = centre[columns],
       scale = scale[columns], columns = columns, p = ncol(X), intercept = intercept)
}

original_scale <- function(theta, design) {
  beta <- rep(NA_real_, design$p)
  slopes <- if (design$intercept) theta[-1] else theta
  beta[design$columns] <- slopes / design$scale
  shift <- sum(slopes / design$scale * design$centre)
  list(beta = beta, alpha = if (design$intercept) theta[1] - shift else 0)
}

# Maximise the log likelihood, or Firth's penalised one, over the free coefficients. Newton's
# steps are halved until they increase it. The last step is shorter than 1e-9 standard
# errors, or than 1e-6 if rounding errors prevent further progress.
maximise <- function(problem, theta, free = seq_along(theta)) {
  point <- newton_point(problem, theta, free)
  converged <- length(free) == 0
  for (count in seq_len(if (converged) 0 else 200)) {
    if (anyNA(point$d)) break
    last <- point$step < 1e-9
    share <- 1
    repeat {
      theta <- replace(point$theta, free, point$theta[free] + share * point$d)
      value <- likelihood(problem, theta)
      slack <- 1e-13 * abs(point$value)
      if (isTRUE(value >= point$value + 1e-4 * share * point$rise - slack)) break
      share <- share / 2
      if (share < 1e-10) return(c(point, list(n_iter = count, converged = FALSE)))
    }
    before <- point$step
    point <- newton_point(problem, theta, free)
    converged <- last || (before < 1e-6 && isTRUE(point$step > before / 2))
    if (converged) break
  }
  c(point, list(n_iter = if (length(free) > 0) count else 0, converged = converged))
}

likelihood <- function(problem, theta) {
  margins <- problem$y * (drop(problem$Z %*% theta) + problem$offset)
  value <- -sum(problem$w * log_losses(margins))
  if (problem$firth) value + log_determinant(problem, margins) / 2 else value
}

# The value and the gradient at theta, Newton's direction d for the free coefficients, its
# length in standard errors (step), and its directional derivative (rise).
newton_point <- function(problem, theta, free) {
  margins <- problem$y * (drop(problem$Z %*% theta) + problem$offset)
  point <- list(theta = theta, margins = margins, value = likelihood(problem, theta))
  c(point, if (problem$firth) firth_direction(problem, margins, free) else
    likelihood_direction(problem, margins, free))
}

# Weighted least squares by an orthogonal decomposition, which is accurate for nearly
# collinear columns.
likelihood_direction <- function(problem, margins, free) {
  gradient <- drop(crossprod(problem$Z, problem$y * problem$w * plogis(-margins)))
  none <- list(gradient = gradient, d = numeric(), step = 0, rise = 0)
  if (length(free) == 0) return(none)
  decomposed <- qr(problem$Z[, free, drop = FALSE] * sqrt(problem$w * dlogis(margins)),
                   tol = 1e-14)
  response <- problem$y * sqrt(problem$w) * exp(-margins / 2)
  step <- sqrt(sum(qr.qty(decomposed, response)[seq_along(free)]^2))
  list(gradient = gradient, d = qr.coef(decomposed, response), step = step, rise = step^2)
}

# The dual weights w / (1 + exp(m)), projected by one weighted projection onto the subspace
# orthogonal to all columns. The gap is the mean Kullback-Leibler divergence between the
# weights before and after, plus the rounding error of the constraint times |theta|.
# inside: whether the projected weights, with columns of full rank, prove that the estimate
# exists.
dual_point <- function(point, problem, n) {
  t <- plogis(-point$margins)
  u <- plogis(point$margins)
  moved <- problem$y * drop(problem$Z %*% point$d)
  down <- -u * moved
  up <- t * moved
  divergence <- problem$w * (t * bregman(down) + u * bregman(up))
  a <- problem$w * t * (1 + down)
  open <- abs(drop(crossprod(problem$Z, problem$y * a))) +
    .Machine$double.eps * drop(crossprod(abs(problem$Z), a))
  feasible <- isTRUE(all(down >= -1 & up >= -1))
  objective <- sum(problem$w * log_losses(point$margins)) / n
  gap <- if (feasible) (sum(divergence) + sum(open * abs(point$theta))) / n else objective
  list(a = if (feasible) a else problem$w * t, step = point$step,
       inside = feasible && all(pmin(t, u) >= 1e-10 & down > 1e-3 - 1 & up > 1e-3 - 1),
       certificate = list(objective = objective, dual_objective = objective - gap,
                          gap = gap))
}

# (1 + x) log(1 + x) - x, without cancellation; at -1 it is 1.
bregman <- function(x) {
  small <- abs(x) < 0.01
  z <- ifelse(small, x, 0)
  series <- 0
  for (k in 7:2) series <- 1 / (k * (k - 1)) - z * series
  series <- z^2 * series
  ifelse(small, series, ifelse(x <= -1, 1, (1 + x) * log1p(pmax(x, -1))) - x)
}

# Firth's penalised likelihood l + log det(I) / 2, whose estimates are finite even if the
# classes are separated. Counterpart: pegasos_stats/solvers/firth.py.
#
# Firth, Biometrika 80 (1993); Heinze & Schemper, Statistics in Medicine 21 (2002).

# counts: how often each row occurs. Value: beta (NA for columns that earlier columns
# determine), alpha, scores, rank, n_iter, step and penalised (the penalised log
# likelihood).
firth_fit <- function(X, y, intercept = TRUE, counts = rep(1, length(y)),
                      offset = rep(0, length(y))) {
  design <- standardized_design(X, counts, intercept)
  positive <- counts > 0
  problem <- list(Z = design$Z[positive, , drop = FALSE], y = y[positive],
                  w = counts[positive], offset = offset[positive], firth = TRUE)
  points <- lapply(firth_starts(problem), maximise, problem = problem)
  values <- vapply(points, function(point) if (point$converged) point$value else -Inf, 0)
  point <- points[[which.max(values)]]
  original <- original_scale(point$theta, design)
  list(beta = original$beta, alpha = original$alpha,
       scores = drop(design$Z %*% point$theta) + offset, rank = ncol(design$Z),
       n_iter = point$n_iter, step = point$step, converged = point$converged,
       penalised = point$value + sum(log(design$scale)))
}

# Two starting points, because there may be several maxima. The first, as in brglm2,
# maximises a likelihood in which each row also has the other outcome with a small weight;
# the second has scores near 0.
firth_starts <- function(problem) {
  root <- sqrt(problem$w)
  near_zero <- qr.coef(qr(problem$Z * root), -problem$offset * root)
  part <- ncol(problem$Z) / sum(problem$w) / 2
  adjusted <- list(Z = rbind(problem$Z, problem$Z), y = c(problem$y, -problem$y),
                   w = c(problem$w * (1 + part), problem$w * part),
                   offset = rep(problem$offset, 2), firth = FALSE)
  list(maximise(adjusted, near_zero)$theta, near_zero)
}

# log det(Z'WZ) for all columns.
log_determinant <- function(problem, margins) {
  decomposed <- qr(problem$Z * sqrt(problem$w * dlogis(margins)), tol = 0)
  2 * sum(log(abs(diag(qr.R(decomposed)))))
}

# The gradient sum (w (y - p) + h (1/2 - p)) z with the leverages h, and Newton's direction
# for the free coefficients. If the negative Hessian is not positive definite, Fisher's
# information replaces it.
#
# With c = 1 - 2 p, v = p (1 - p) and Q the orthonormal rows of the weighted columns,
# -Hessian = sum ((w + h) v - h c^2 / 2) z z' + G'G / 2, as
# sum_ik c_i c_k (q_i'q_k)^2 z_i z_k' = G'G with the columns G_j = sum_i c_i z_ij q_i q_i'.
firth_direction <- function(problem, margins, free) {
  Z <- problem$Z
  c <- problem$y * (plogis(-margins) - plogis(margins))
  v <- dlogis(margins)
  decomposed <- qr(Z * sqrt(problem$w * v), tol = 0)
  Q <- qr.Q(decomposed)
  h <- rowSums(Q^2)
  gradient <- drop(crossprod(Z, problem$y * problem$w * plogis(-margins) + h * c / 2))
  none <- list(gradient = gradient, d = numeric(), step = 0, rise = 0)
  if (length(free) == 0) return(none)
  G <- apply(Z[, free, drop = FALSE], 2, function(z) crossprod(Q, c * z * Q))
  G <- matrix(G, ncol = length(free))
  Zf <- Z[, free, drop = FALSE]
  hessian <- crossprod(Zf, ((problem$w + h) * v - h * c^2 / 2) * Zf) + crossprod(G) / 2
  information <- crossprod(qr.R(decomposed))[free, free, drop = FALSE]
  score <- gradient[free]
  inverse_times <- function(H) {
    factor <- tryCatch(chol(H), error = function(failed) NULL)
    if (!is.null(factor)) backsolve(factor, forwardsolve(t(factor), score))
  }
  d <- inverse_times(hessian)
  if (is.null(d)) d <- inverse_times(information)
  if (is.null(d)) return(replace(none, "d", list(NA * score)))
  rise <- sum(score * d)
  list(gradient = gradient, d = d, step = sqrt(max(rise, sum(d * (information %*% d)))),
       rise = rise)
}

# FLIC: estimate the intercept again by maximum likelihood, with the scores as offset. The
# mean probability then equals the share of the second class.
#
# Puhr, Heinze, Nold, Lusa & Geroldinger, Statistics in Medicine 36 (2017).
with_flic <- function(solution, y, counts) {
  constant <- matrix(0, length(y), 0)
  shift <- maximum_likelihood(constant, y, TRUE, counts, solution$scores)$alpha
  solution$alpha <- solution$alpha + shift
  solution$scores <- solution$scores + shift
  solution
}

# Pegasos: stochastic sub-gradient steps for the hinge loss, one row at a time.
# Beside it stands pegasos_stats/kernels/pegasos.py.
#
# Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
# figure 1, with an intercept that is not penalised.

# X: matrix, n x p.  y: n numbers, -1 or +1.  The caller sets the seed.
# Value: beta, alpha, violations (steps whose margin was below 1), rows (visited, in
# order), n_iter (steps).
pegasos <- function(X, y, lambda, epochs, intercept = TRUE) {
  n <- nrow(X)
  beta <- rep(0, ncol(X))
  alpha <- 0
  violations <- 0
  rows <- c()
  for (epoch in 1:epochs) {
    rows <- c(rows, sample(1:n, n))
  }
  for (t in seq_along(rows)) {
    i <- rows[t]
    x <- X[i, ]
    eta <- 1 / (lambda * t)
    if (y[i] * (drop(x %*% beta) + alpha) < 1) {
      violations <- violations + 1
      beta <- beta - eta * (lambda * beta - y[i] * x)
      if (intercept) alpha <- alpha + eta * y[i]
    } else {
      beta <- beta - eta * (lambda * beta)
    }
  }
  list(beta = beta, alpha = alpha, violations = violations, rows = rows,
       n_iter = length(rows))
}

# X %*% beta + alpha, every score summed from the first coordinate to the last.
scores <- function(X, beta, alpha) {
  drop(X %*% beta) + alpha
}

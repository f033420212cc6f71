# Kernel Pegasos: counts of violations instead of coefficients.
# Counterpart: pegasos_stats/compiled/kernel_pegasos.py.
#
# Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
# figure 3, with an optional intercept that is not penalised.

# X: matrix, n x p, or the n x n matrix of kernel values for kernel = "precomputed".  y: n
# numbers, -1 or +1.  The caller sets the seed.  order, steps: see epochs_of_rows().
# weights: weights of the rows' losses.
# Value: counts (violations of each row), alpha, violations (the sum of counts), rows (the
# visited rows, in order), n_iter (steps), g (sums of weights * y * K over the violations).
kernel_pegasos <- function(X, y, lambda, epochs, kernel = "linear", degree = 2,
                           offset = 1, gamma = 1, intercept = FALSE,
                           weights = rep(1, length(y)), order = "shuffle",
                           steps = NULL, refit_intercept = FALSE) {
  rows <- unlist(epochs_of_rows(nrow(X), epochs, order, steps))
  fit <- kernel_pegasos_rows(X, y, lambda, rows, kernel, degree, offset, gamma,
                             intercept, weights)
  if (refit_intercept) {
    fit$alpha <- best_intercept(fit$g / (lambda * fit$n_iter), y, "hinge", weights)
  }
  fit
}

# Kernel Pegasos with the visited rows as an argument.  g[j] is the sum of
# weights[i] * y[i] * K(x_i, x_j) over the violations so far, in their order.
kernel_pegasos_rows <- function(X, y, lambda, rows, kernel = "linear", degree = 2,
                                offset = 1, gamma = 1, intercept = FALSE,
                                weights = rep(1, length(y))) {
  wy <- weights * y
  counts <- rep(0, nrow(X))
  g <- rep(0, nrow(X))
  alpha <- 0
  for (t in seq_along(rows)) {
    i <- rows[t]
    f <- alpha
    if (t > 1) f <- 1 / (lambda * (t - 1)) * g[i] + alpha
    if (y[i] * f < 1) {
      counts[i] <- counts[i] + 1
      g <- g + wy[i] * kernel_values(X[i, ], X, kernel, degree, offset, gamma)
      if (intercept) alpha <- alpha + 1 / (lambda * t) * wy[i]
    }
  }
  list(counts = counts, alpha = alpha, violations = sum(counts), rows = rows,
       n_iter = length(rows), g = g)
}

# K(x, z) for every row z of Z, summed from the first feature to the last.  For
# kernel = "precomputed", x contains these values.
kernel_values <- function(x, Z, kernel = "linear", degree = 2, offset = 1, gamma = 1) {
  if (kernel == "precomputed") return(x)
  total <- rep(0, nrow(Z))
  for (k in seq_along(x)) {
    term <- if (kernel == "gaussian") (Z[, k] - x[k])^2 else x[k] * Z[, k]
    total <- total + term
  }
  switch(kernel,
    linear = total,
    polynomial = repeated_product(gamma * total + offset, degree),
    gaussian = exp(-gamma * total),
    stop("unknown kernel: ", kernel))
}

# base^degree as ((base * base) * base) * ...
repeated_product <- function(base, degree) {
  power <- base
  for (factor in seq_len(degree - 1)) {
    power <- power * base
  }
  power
}

# Scores of the rows of Z after n_iter steps: the sum of a_j * y_j * K(x_j, z) with
# a_j = c_j * w_j / (lambda * n_iter), over the rows of X with positive a_j, from the first
# to the last, plus alpha.  For kernel = "precomputed", Z contains K(z, x_j) for all n rows
# x_j.
kernel_scores <- function(Z, X, y, counts, alpha, lambda, n_iter, kernel = "linear",
                          degree = 2, offset = 1, gamma = 1,
                          weights = rep(1, length(y))) {
  total <- rep(0, nrow(Z))
  for (j in which(counts * weights > 0)) {
    x <- if (kernel == "precomputed") Z[, j] else X[j, ]
    weight <- counts[j] * weights[j] / (lambda * n_iter) * y[j]
    total <- total + weight * kernel_values(x, Z, kernel, degree, offset, gamma)
  }
  total + alpha
}

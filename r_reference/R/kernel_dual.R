# The optimum of a kernel machine with the hinge loss, and the certificate of a fit.
# Beside it stand pegasos_stats/solvers/kernel_ascent.py and kernel_problem.py, which take
# some hundred rows at a time and come to the same optimum.
#
# Fan, Chen & Lin, Working set selection using second order information for training
# support vector machines, JMLR 6 (2005), WSS 2.

# Steps on pairs of dual weights, a in [0, weights], with sum(a * y) = 0: the intercept is
# free. The first row of a pair has the steepest slope, the second promises the largest
# gain with it. Ends where no two slopes of rows that may move are further apart than tol.
# Value: a, alpha, g (sums of a * y * K), n_iter (steps).
kernel_pairs <- function(X, y, lambda, kernel = "linear", degree = 2, offset = 1,
                         gamma = 1, weights = rep(1, length(y)), tol = 1e-10,
                         steps = 1e6) {
  n <- length(y)
  K <- t(sapply(1:n, function(i) {
    kernel_values(X[i, ], X, kernel, degree, offset, gamma)
  }))
  scale <- lambda * n
  a <- rep(0, n)
  slope <- y
  taken <- 0
  while (taken < steps) {
    rise <- ifelse(ifelse(y > 0, a < weights, a > 0), slope, -Inf)
    fall <- ifelse(ifelse(y > 0, a > 0, a < weights), slope, Inf)
    if (max(rise) - min(fall) <= tol) break
    i <- which.max(rise)
    apart <- pmax(slope[i] - fall, 0)
    distance <- pmax(K[i, i] + diag(K) - 2 * K[i, ], 1e-12 * (K[i, i] + diag(K)))
    j <- which.max(apart^2 / distance)
    d <- scale * apart[j] / distance[j]
    d <- min(d, if (y[i] > 0) weights[i] - a[i] else a[i])
    d <- min(d, if (y[j] > 0) a[j] else weights[j] - a[j])
    a[i] <- min(weights[i], max(0, a[i] + y[i] * d))
    a[j] <- min(weights[j], max(0, a[j] - y[j] * d))
    slope <- slope - d / scale * (K[i, ] - K[j, ])
    taken <- taken + 1
  }
  g <- drop(K %*% (a * y))
  list(a = a, alpha = best_intercept(g / scale, y, "hinge", weights), g = g,
       n_iter = taken)
}

# Objective at the function sum(a * y * K(x, .)) / (lambda * n) + alpha, and the dual at a,
# which must be feasible(): the first is at most `gap` above the least value there is.
kernel_certificate <- function(X, y, alpha, a, lambda, kernel = "linear", degree = 2,
                               offset = 1, gamma = 1, weights = rep(1, length(y))) {
  n <- length(y)
  scores <- rep(0, n)
  for (j in which(a > 0)) {
    scores <- scores + a[j] * y[j] / (lambda * n) *
      kernel_values(X[j, ], X, kernel, degree, offset, gamma)
  }
  penalty <- sum(a * y * scores) / (2 * n)
  loss <- sum(weights * pmax(0, 1 - y * (scores + alpha))) / n
  below <- max(0, sum(a) / n - penalty)
  list(objective = penalty + loss, dual_objective = below,
       gap = penalty + loss - below)
}

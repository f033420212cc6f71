# The optimum of a kernel SVM, and the certificate of a fit. Counterparts:
# pegasos_stats/solvers/kernel_ascent.py, which computes the same optimum with working sets
# of some hundred rows, and kernel_problem.py.
#
# Fan, Chen & Lin, Working set selection using second order information for training
# support vector machines, JMLR 6 (2005), WSS 2.

# Steps on pairs of dual weights, a in [0, weights], with sum(a * y) = 0, because the
# intercept is not penalised. The first row of a pair has the largest slope of rows whose
# a * y may increase; the second maximises the gain of a step with it. Ends when the largest
# difference of slopes is at most tol. Value: a, alpha, g (sums of a * y * K), n_iter (steps).
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

# Objective of the function sum(a * y * K(x, .)) / (lambda * n) + alpha, and the dual
# objective at a, which must be feasible(). The objective is at most `gap` above its minimum.
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

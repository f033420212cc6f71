# Starting point, step sizes and stopping rule of Pegasos.
# Counterpart: pegasos_stats/solvers/pegasos.py.

# beta, alpha, and t, the number of the step before the first. start: "zero"; "random", a
# beta of length 1 / sqrt(lambda) in a random direction, by rnorm(); or numbers, with an
# intercept first alpha and then beta.
first_iterate <- function(start, p, intercept, lambda, first_step) {
  from <- list(beta = rep(0, p), alpha = 0, t = first_step - 1)
  if (is.numeric(start)) {
    if (intercept) from$alpha <- start[1]
    from$beta <- if (intercept) start[-1] else start
  } else if (start == "random") {
    z <- rnorm(p)
    from$beta <- z / (sqrt(lambda) * euclidean(z))
  }
  from
}

# The size of step t, the k-th of the run. step: "pegasos", "1/(lambda n)", "1/sqrt(t)",
# one number for all steps, or one number for each step of the run.
step_size <- function(step, t, k, lambda, n) {
  if (is.numeric(step)) return(if (length(step) == 1) step else step[k])
  switch(step,
    "pegasos" = 1 / (lambda * t),
    "1/(lambda n)" = 1 / (lambda * n),
    "1/sqrt(t)" = 1 / sqrt(t))
}

# For a run from zero, beta is the sum of a * y * x, divided by lambda * n. A step multiplies
# every a by a factor ("kept") and adds to the a of its rows. With steps of size
# 1 / (lambda * t) the factor is (t - 1) / t, so sums are divided by the number of steps at
# the end instead.
dual_share <- function(step, eta, lambda) {
  if (identical(step, "pegasos")) return(list(kept = 1, added = 1))
  list(kept = 1 - eta * lambda, added = eta * lambda)
}

dual_weights <- function(a, step, taken) {
  if (identical(step, "pegasos")) a * length(a) / taken else a * length(a)
}

# Returns a function of the fit, called after every epoch: whether the run ends.  tol: it
# ends if the duality gap is at most tol * objective.  change_tol: it ends if no coefficient
# or intercept changed in the epoch by more than change_tol * the largest absolute value. 0
# disables a tolerance.
stopping <- function(X, y, lambda, loss, intercept, weights, tol, change_tol, from,
                     offset) {
  before <- c(from$alpha, from$beta)
  function(fit) {
    if (tol == 0 && change_tol == 0) return(FALSE)
    change <- max(abs(c(fit$alpha, fit$beta) - before))
    before <<- c(fit$alpha, fit$beta)
    if (change_tol > 0 && change <= change_tol * max(abs(before))) return(TRUE)
    if (tol == 0) return(FALSE)
    at <- certificate(X, y, fit$beta, fit$alpha, fit$a, lambda, loss, intercept, weights,
                      offset)
    at$gap <= tol * at$objective
  }
}

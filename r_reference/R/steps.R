# Where a run of Pegasos begins, how long its steps are, and when it ends.
# Beside it stands pegasos_stats/solvers/pegasos.py.

# beta, alpha, and t, the number of the step before the first. start: "zero"; "random",
# for a beta of length 1 / sqrt(lambda) in a random direction, by rnorm(); or numbers,
# with an intercept alpha first and then beta.
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

# beta of a run from zero is the sum of a * y * x, divided by lambda * n. A step keeps a
# part of every a and adds to those of its rows. With steps 1 / (lambda * t) the part
# kept is (t - 1) / t: what is added up is divided by the number of steps at the end.
dual_share <- function(step, eta, lambda) {
  if (identical(step, "pegasos")) return(list(kept = 1, added = 1))
  list(kept = 1 - eta * lambda, added = eta * lambda)
}

dual_weights <- function(a, step, taken) {
  if (identical(step, "pegasos")) a * length(a) / taken else a * length(a)
}

# Of the fit so far, after an epoch: whether the run ends.  tol: if the duality gap is at
# most tol * objective.  change_tol: if no coefficient, the intercept among them, has
# changed over the epoch by more than change_tol * the largest of them. 0 for neither.
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

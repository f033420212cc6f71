# Intervals and tests by the profile likelihood, without a penalty or with Firth's.
# Counterpart: pegasos_stats/models/inference/profile.py.

# The profile of coefficient j: the maximum of the likelihood with this coefficient fixed at
# a value, as a function of the value. For the profile of the intercept, columns are not
# centred.
profile_of <- function(object, j) {
  positive <- object$weights > 0
  design <- standardized_design(object$X, object$weights, object$intercept)
  Z <- design$Z[positive, , drop = FALSE]
  names <- c(if (object$intercept) 0, design$columns)
  held <- match(j - object$intercept, names)
  scale <- c(if (object$intercept) 1, design$scale)
  estimate <- unname(object$coefficients[names + object$intercept])
  if (object$intercept && j == 1) {
    Z[, -1] <- sweep(object$X[positive, design$columns, drop = FALSE], 2, design$scale, "/")
  } else if (object$intercept) {
    estimate[1] <- estimate[1] + sum(estimate[-1] * design$centre)
  }
  problem <- list(Z = Z, y = object$y[positive], w = object$counts[positive],
                  offset = object$offset[positive], firth = object$estimator == "firth")
  top <- newton_point(problem, estimate * scale, seq_along(scale))
  R <- qr.R(qr(Z * sqrt(problem$w * dlogis(top$margins)), tol = 0))
  V <- chol2inv(R)
  tangent <- V[, held] / V[held, held]
  last <- top$theta
  # 2 (top - value) and its derivative with respect to the coefficient. If the maximisation
  # does not converge from one starting point, others are tried. With Firth's penalty there
  # may be several maxima: the largest from three starting points counts.
  deviance <- function(value) {
    value <- value * scale[held]
    starts <- list(last + (value - last[held]) * tangent, top$theta, 0 * last)
    best <- list(value = -Inf, converged = FALSE)
    for (start in starts) {
      start[held] <- value
      point <- maximise(problem, start, setdiff(seq_along(scale), held))
      if (point$converged && point$value > best$value) best <- point
      if (best$converged && !problem$firth) break
    }
    if (best$converged) last <<- best$theta
    list(value = 2 * (top$value - best$value), converged = best$converged,
         slope = -2 * best$gradient[held] * scale[held])
  }
  list(deviance = deviance, estimate = top$theta[held] / scale[held],
       error = sqrt(V[held, held]) / scale[held])
}

# The two values at which the deviance exceeds its minimum by `critical`.
profile_limits <- function(object, j, critical) {
  c(profile_root(profile_of(object, j), critical, -1),
    profile_root(profile_of(object, j), critical, 1))
}

# Newton's method for the signed root of the deviance, which is nearly linear, in a bracket
# between a point inside the interval and a point outside.
profile_root <- function(profile, critical, side) {
  inside <- 0  # distances from the estimate, in standard errors
  outside <- Inf
  at <- sqrt(critical)
  for (count in 1:200) {
    point <- profile$deviance(profile$estimate + side * at * profile$error)
    if (!point$converged) return(NA_real_)
    if (point$value < critical) inside <- at else outside <- at
    root <- sqrt(max(point$value, 0))
    new <- at + (sqrt(critical) - root) * 2 * root / (side * point$slope * profile$error)
    if (!isTRUE(new > inside && new < outside)) {
      new <- if (is.finite(outside)) (inside + outside) / 2 else 2 * at
    }
    new <- min(new, 10 * at)
    moved <- abs(new - at)
    at <- new
    if (at > 1e8) return(side * Inf)
    if (moved <= 1e-11 * at) break
  }
  profile$estimate + side * at * profile$error
}

# Likelihood ratio test of every coefficient against 0: statistic and p-value. The
# coefficient goes to 0 in four steps, and the others are estimated at each, so that they
# stay near the largest maximum.
profile_tests <- function(object) {
  statistic <- vapply(seq_along(object$coefficients), function(j) {
    if (is.na(object$coefficients[[j]])) return(NA_real_)
    profile <- profile_of(object, j)
    for (share in c(0.75, 0.5, 0.25, 0)) point <- profile$deviance(share * profile$estimate)
    if (point$converged) max(point$value, 0) else NA_real_
  }, 0)
  cbind(Chisq = statistic, "Pr(>Chisq)" = pchisq(statistic, 1, lower.tail = FALSE))
}

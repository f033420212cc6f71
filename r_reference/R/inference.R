# Methods of R's generics for standard errors, intervals, likelihood and residuals.
# Counterparts: pegasos_stats/models/inference/sandwich.py and bootstrap.py.

# Log loss: V = H^-1 G H^-1 / n at the optimum, with type "HC0" to "HC3" or "nonrobust"; for
# the latter, G = H - lambda J. resamples: value of bootstrap_fit(); if present, V is their
# covariance. V is NA if the maximum likelihood estimate was requested and does not exist.
vcov.linear_results <- function(object, type = NULL, resamples = NULL, ...) {
  names <- names(object$coefficients)
  V <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
  if (object$estimator == "fallback") {
    warning(object$note, call. = FALSE)
    return(V)
  }
  if (!is.null(resamples)) return(resampled_covariance(resamples))
  type <- type_or_default(object, type)
  stop_unless(object$loss == "log", "standard errors of an SVM need resamples; pass ",
              "resamples = bootstrap_fit(fit)")
  stop_unless(object$estimator != "flic", "penalty = \"flic\" is for predictions and has ",
              "no standard errors; use penalty = \"firth\"")
  estimable <- which(!is.na(object$coefficients))
  if (object$estimator == "firth") {
    stop_unless(type == "nonrobust", "with Firth's penalty, only the standard errors of the ",
                "model are available; omit type")
    V[estimable, estimable] <- sandwich(object, type, object$counts, estimable)
    return(V)
  }
  at <- object$certificate
  if (at$gap > 1e-3 * at$objective) {
    warning("standard errors are valid at the optimum, but the relative gap of this fit is ",
            format(at$gap / at$objective, digits = 2), "; omit solver", call. = FALSE)
  }
  stop_unless(type != "nonrobust" || all(object$weights == 1),
              "type = \"nonrobust\" does not allow weights; use \"HC3\"")
  w <- object$weights
  separated <- object$lam > 0 & separated_rows(object)
  if (!any(separated)) {
    V[estimable, estimable] <- sandwich(object, type, w, estimable)
    return(V)
  }
  w[separated] <- 0
  part <- determined_by(scaled_columns(object)[w > 0, , drop = FALSE])
  warning(sum(separated), " rows can be predicted with certainty, for example because all ",
          "rows of a level have the same outcome. There are no standard errors of ",
          paste(setdiff(names, names[part$sure]), collapse = ", "),
          "; merge or drop such a level, or increase lam", call. = FALSE)
  if (length(part$sure) > 0) {
    found <- sandwich(object, type, w, part$basis)
    sure <- match(part$sure, part$basis)
    V[part$sure, part$sure] <- found[sure, sure]
  }
  V
}

# The covariance of the finite resamples; NA if more than 2.5% are infinite.
resampled_covariance <- function(resamples) {
  resamples <- resamples[rowSums(!is.na(resamples)) > 0, , drop = FALSE]
  finite <- finite_resamples(resamples)
  V <- cov(resamples[finite, , drop = FALSE])
  if (mean(finite) < 0.975) V[] <- NA
  V
}

# Test which resamples are finite; warn if more than 2.5% are infinite.
finite_resamples <- function(resamples) {
  finite <- rowSums(is.infinite(resamples)) == 0
  if (mean(finite) < 0.975) {
    warning(sum(!finite), " of ", length(finite), " resamples have no maximum likelihood ",
            "estimate, so covariances and 95% intervals do not exist; use penalty = ",
            "\"firth\"", call. = FALSE)
  }
  finite
}

type_or_default <- function(object, type) {
  default <- if (object$estimator == "firth") "nonrobust" else "HC3"
  if (is.null(type)) default else
    match.arg(type, c("HC3", "HC2", "HC1", "HC0", "nonrobust"))
}

# (1, x), each column divided by its standard deviation.
scaled_columns <- function(object) {
  spread <- apply(object$X, 2, sd)
  cbind(if (object$intercept) 1,
        sweep(object$X, 2, ifelse(spread > 0, spread, 1), "/"))
}

# The covariance of the coefficients of `columns`, from the rows with a positive weight.
sandwich <- function(object, type, w, columns) {
  y <- object$y
  n <- length(y)
  at <- curvature_of(object, w, columns)
  if (type == "nonrobust") {
    V <- at$inverse %*% at$H %*% at$inverse / n
  } else {
    each <- -at$s * y * at$Z
    h <- pmin(leverages(at, w), 0.99)
    r <- w * switch(type, HC3 = 1 / (1 - h), HC2 = 1 / sqrt(1 - h), 1)
    class <- if (identical(object$weighting, "balanced")) y else rep(1, n)
    means <- rowsum(w * each, class) / c(rowsum(w, class))
    S <- r * (each - means[as.character(class), , drop = FALSE])
    V <- at$inverse %*% crossprod(S) %*% at$inverse / n^2
    if (type == "HC1") V <- V * sum(w > 0) / (sum(w > 0) - at$df)
  }
  at$back %*% V %*% t(at$back)
}

# The leverage of each row: w p (1 - p) z' (H + lambda J)^-1 z / n.
leverages <- function(at, w) {
  w * at$s * (1 - at$s) * rowSums((at$Z %*% at$inverse) * at$Z) / nrow(at$Z)
}

# H without penalty, the inverse of H + lambda J, and df = tr((H + lambda J)^-1 H), for
# some columns of (1, x). Columns are centred, because columns far from 0 lose digits.
# back: the matrix that converts coefficients of centred columns to those of (1, x).
curvature_of <- function(object, w = object$weights,
                         columns = seq_along(object$coefficients)) {
  intercept <- object$intercept && 1 %in% columns
  X <- object$X[, setdiff(columns - object$intercept, 0), drop = FALSE]
  centre <- colMeans(X[w > 0, , drop = FALSE]) * intercept
  Z <- cbind(if (intercept) 1, sweep(X, 2, centre))
  s <- plogis(-object$y * object$scores)
  rows <- Z * sqrt(w * dlogis(object$scores) / length(s))
  H <- crossprod(rows)
  back <- diag(ncol(Z))
  if (intercept) back[1, -1] <- -centre
  J <- c(if (intercept) 0, rep(1, ncol(X)))
  # An orthogonal decomposition is accurate for nearly collinear columns.
  decomposed <- qr(rbind(rows, diag(sqrt(object$lam * J), length(J))), tol = 0)
  inverse <- chol2inv(qr.R(decomposed))
  list(Z = Z, back = back, s = s, H = H, inverse = inverse, df = sum(inverse * t(H)))
}

# The coefficient that the penalty moves most, and by how many unpenalised standard errors:
# one Newton step towards lambda = 0, H0^-1 lambda J theta, divided by the square roots of
# the diagonal of (n H0)^-1. NULL without a penalty or without an unpenalised estimate.
penalty_shift <- function(object) {
  if (object$estimator != "penalised" || any(all_separated(object))) return(NULL)
  design <- standardized_design(object$X, object$weights, object$intercept)
  if (length(design$columns) < design$p) return(NULL)
  at <- curvature_of(replace(object, "lam", 0))
  pull <- object$lam * object$beta
  if (object$intercept) pull <- c(0, pull)
  by <- abs(drop(at$inverse %*% pull)) * sqrt(object$nobs / diag(at$inverse))
  if (object$intercept) by[1] <- 0
  list(name = names(object$coefficients)[which.max(by)], by = max(by))
}

# Coefficients of resamples, one row per resample; NA if a resample has a single class, and
# without a penalty Inf if its estimate does not exist. bootstrap_rows() draws the rows
# after set.seed(seed); afterwards the state of the generator is restored.
bootstrap_fit <- function(fit, replicates = 999, seed = 1, tol = 1e-6) {
  stop_unless(!fit$estimator %in% c("firth", "flic", "fallback"),
              if (is.null(fit$note)) "Firth's penalty has no bootstrap; use confint(fit)"
              else fit$note)
  state <- random_state()
  on.exit(random_state_is(state))
  seed_generator(seed)
  kept <- which(fit$weights > 0)
  missing <- fit$coefficients + if (fit$lam == 0) Inf else NA
  rows <- bootstrap_rows(length(kept), replicates)
  refit <- function(draw) {
    i <- kept[draw]
    y <- fit$y[i]
    if (length(unique(y)) < 2) return(missing)
    weighting <- if (is.numeric(fit$weighting)) fit$weights[i] else fit$weighting
    weights <- row_weights(weighting, y)
    X <- fit$X[i, , drop = FALSE]
    if (fit$lam == 0) {
      solution <- maximum_likelihood(X, y, fit$intercept, weights, fit$offset[i])
      same <- identical(is.na(solution$beta), unname(is.na(fit$beta)))
      if (!solution$exists || !same) return(missing)
    } else {
      solution <- optimum(X, y, fit$lam, fit$loss, fit$intercept, weights, fit$offset[i],
                          tol)
    }
    c(if (fit$intercept) solution$alpha, solution$beta)
  }
  found <- t(apply(rows, 1, refit))
  colnames(found) <- names(fit$coefficients)
  found
}

# Normal intervals; with resamples the envelope, see bootstrap_interval(). method
# "profile", the default for Firth's penalty: the values that a likelihood ratio test does
# not reject.
confint.linear_results <- function(object, parm = names(object$coefficients),
                                   level = 0.95, type = NULL, resamples = NULL,
                                   method = NULL, ...) {
  q <- c((1 - level) / 2, (1 + level) / 2)
  estimate <- object$coefficients
  if (is.numeric(parm)) parm <- names(estimate)[parm]
  firth <- object$estimator == "firth" && is.null(type) && is.null(resamples)
  method <- match.arg(method, if (firth) c("profile", "normal") else c("normal", "profile"))
  limits <- matrix(NA_real_, length(estimate), 2)
  if (method == "profile") {
    check_profile(object, type, resamples)
    for (j in which(names(estimate) %in% parm & !is.na(estimate))) {
      limits[j, ] <- profile_limits(object, j, qchisq(level, 1))
    }
  } else if (is.null(resamples) || object$estimator == "fallback") {
    limits <- estimate + outer(sqrt(diag(vcov(object, type))), qnorm(q))
  } else {
    resamples <- resamples[rowSums(!is.na(resamples)) > 0, , drop = FALSE]
    needed <- ceiling(2 / (1 - level) - 1 - 1e-9)
    stop_unless(nrow(resamples) >= needed, "an interval of level ", level, " needs ",
                needed, " resamples, but there are ", nrow(resamples))
    finite_resamples(resamples)
    limits[] <- bootstrap_interval(resamples, estimate, "envelope", level)
    limits[!is.finite(limits)] <- NA
  }
  dimnames(limits) <- list(names(estimate), paste(format(100 * q, trim = TRUE,
                                                         digits = 3), "%"))
  limits[parm, , drop = FALSE]
}

check_profile <- function(object, type, resamples) {
  stop_unless(object$estimator %in% c("likelihood", "firth"), "method = \"profile\" needs ",
              "maximum likelihood or Firth's penalty; fit logit() without lam")
  stop_unless(is.null(type) && is.null(resamples), "method = \"profile\" does not allow ",
              "type or resamples; omit them")
  stop_unless(object$estimator == "firth" || all(object$weights == 1),
              "method = \"profile\" does not allow weights; omit method")
}

# Minus the sum of the weighted log losses, without the penalty; weights have mean 1. df:
# the rank or, with a penalty, the effective number of coefficients, tr(H (H + lambda J)^-1).
logLik.linear_results <- function(object, ...) {
  needs_probabilities(object, "likelihood")
  structure(-sum(likelihood_weights(object) * log_losses(object$y * object$scores)),
            df = if (is.null(object$rank)) curvature_of(object)$df else object$rank,
            nobs = object$nobs, class = "logLik")
}

# The counts for Firth's penalty; else weights with mean 1 over rows of positive weight.
likelihood_weights <- function(object) {
  if (object$estimator %in% c("firth", "flic")) object$counts else
    object$weights * object$nobs / length(object$y)
}

deviance.linear_results <- function(object, ...) -2 * as.numeric(logLik(object))

nobs.linear_results <- function(object, ...) object$nobs

# Probabilities of the second class; for an SVM, the predicted classes.
fitted.linear_results <- function(object, ...) {
  predict(object, type = if (object$loss == "log") "response" else "class")
}

residuals.linear_results <- function(object, type = c("deviance", "pearson", "response"),
                                     ...) {
  type <- match.arg(type)
  needs_probabilities(object, "residuals")
  outcome <- (object$y + 1) / 2
  odds <- object$scores - object$prior_shift
  p <- plogis(odds)
  raw <- outcome - p
  w <- if (is.numeric(object$weighting)) object$weights * object$nobs / length(p) else 1
  found <- switch(type, response = raw,
    pearson = raw * sqrt(w / (p * (1 - p))),
    deviance = sign(raw) * sqrt(2 * w * log_losses(object$y * odds)))
  naresid(object$na.action, found)
}

needs_probabilities <- function(object, what) {
  stop_unless(object$loss == "log", "an SVM has no ", what, "; fit logit()")
}

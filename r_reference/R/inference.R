# Standard errors, intervals and what else R's generics ask of a fit. Beside it stand
# pegasos_stats/models/inference/sandwich.py and bootstrap.py.

# Log loss: V = H^-1 G H^-1 / n at the optimum, type "HC0" to "HC3" or "nonrobust", for
# which G = H - lambda J. resamples: of bootstrap_fit(), whose covariance is taken then.
vcov.linear_results <- function(object, type = c("HC3", "HC2", "HC1", "HC0", "nonrobust"),
                                resamples = NULL, ...) {
  if (!is.null(resamples)) {
    return(cov(resamples[complete.cases(resamples), , drop = FALSE]))
  }
  type <- match.arg(type)
  stop_unless(object$loss == "log", "an SVM has standard errors by resampling only; ",
              "give resamples = bootstrap_fit(fit)")
  at <- object$certificate
  if (at$gap > 1e-3 * at$objective) {
    warning("standard errors are those of the optimum, and the relative gap of this fit ",
            "is ", format(at$gap / at$objective, digits = 2), "; leave out solver",
            call. = FALSE)
  }
  stop_unless(type != "nonrobust" || all(object$weights == 1),
              "type = \"nonrobust\" does not go with weights; give \"HC3\"")
  names <- names(object$coefficients)
  V <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
  w <- object$weights
  separated <- separated_rows(object)
  if (!any(separated)) {
    V[] <- sandwich(object, type, w, seq_along(names))
    return(V)
  }
  w[separated] <- 0
  Z <- cbind(if (object$intercept) 1, object$X)
  part <- determined_by(Z[w > 0, , drop = FALSE])
  warning(sum(separated), " rows can be predicted with certainty, as where all rows of a ",
          "level have one outcome; no standard error of ",
          paste(setdiff(names, names[part$sure]), collapse = ", "),
          ": merge or drop such a level, or increase lam", call. = FALSE)
  if (length(part$sure) > 0) {
    found <- sandwich(object, type, w, part$basis)
    sure <- match(part$sure, part$basis)
    V[part$sure, part$sure] <- found[sure, sure]
  }
  V
}

# The covariance of some coefficients by the rows with a weight.
sandwich <- function(object, type, w, columns) {
  y <- object$y
  n <- length(y)
  at <- curvature_of(object, w, columns)
  if (type == "nonrobust") {
    V <- at$inverse %*% at$H %*% at$inverse / n
  } else {
    each <- -at$s * y * at$Z
    h <- pmin(w * at$s * (1 - at$s) * rowSums((at$Z %*% at$inverse) * at$Z) / n, 0.99)
    r <- w * switch(type, HC3 = 1 / (1 - h), HC2 = 1 / sqrt(1 - h), 1)
    class <- if (identical(object$weighting, "balanced")) y else rep(1, n)
    means <- rowsum(w * each, class) / c(rowsum(w, class))
    S <- r * (each - means[as.character(class), , drop = FALSE])
    V <- at$inverse %*% crossprod(S) %*% at$inverse / n^2
    if (type == "HC1") V <- V * sum(w > 0) / (sum(w > 0) - at$df)
  }
  at$back %*% V %*% t(at$back)
}

# H without penalty, the inverse of H + lambda J, and df = tr((H + lambda J)^-1 H), of some
# columns of (1, x) about their centre, as far ones would cost digits. back: the matrix
# that turns coefficients for such rows into those for (1, x).
curvature_of <- function(object, w = object$weights,
                         columns = seq_along(object$coefficients)) {
  intercept <- object$intercept && 1 %in% columns
  X <- object$X[, setdiff(columns - object$intercept, 0), drop = FALSE]
  centre <- colMeans(X[w > 0, , drop = FALSE]) * intercept
  Z <- cbind(if (intercept) 1, sweep(X, 2, centre))
  s <- plogis(-object$y * object$scores)
  H <- crossprod(Z * sqrt(w * s * (1 - s))) / length(s)
  back <- diag(ncol(Z))
  if (intercept) back[1, -1] <- -centre
  J <- c(if (intercept) 0, rep(1, ncol(X)))
  inverse <- solved(H + diag(object$lam * J, length(J)), diag(length(J)))
  list(Z = Z, back = back, s = s, H = H, inverse = inverse, df = sum(inverse * t(H)))
}

# Coefficients of resamples, a row each; NA where one has a single level. The rows are
# those of bootstrap_rows() after set.seed(seed); the generator is left as it was.
bootstrap_fit <- function(fit, replicates = 999, seed = 1, tol = 1e-6) {
  state <- random_state()
  on.exit(random_state_is(state))
  seed_generator(seed)
  kept <- which(fit$weights > 0)
  rows <- bootstrap_rows(length(kept), replicates)
  refit <- function(draw) {
    i <- kept[draw]
    y <- fit$y[i]
    if (length(unique(y)) < 2) return(NA * fit$coefficients)
    weighting <- if (is.numeric(fit$weighting)) fit$weights[i] else fit$weighting
    found <- optimum(fit$X[i, , drop = FALSE], y, fit$lam, fit$loss, fit$intercept,
                     row_weights(weighting, y), fit$offset[i], tol)
    c(if (fit$intercept) found$alpha, found$beta)
  }
  found <- t(apply(rows, 1, refit))
  colnames(found) <- names(fit$coefficients)
  found
}

# Normal limits; of resamples the envelope, see bootstrap_interval().
confint.linear_results <- function(object, parm = names(object$coefficients),
                                   level = 0.95, type = "HC3", resamples = NULL, ...) {
  q <- c((1 - level) / 2, (1 + level) / 2)
  estimate <- object$coefficients
  if (is.null(resamples)) {
    limits <- estimate + outer(sqrt(diag(vcov(object, type))), qnorm(q))
  } else {
    resamples <- resamples[complete.cases(resamples), , drop = FALSE]
    needed <- ceiling(2 / (1 - level) - 1 - 1e-9)
    stop_unless(nrow(resamples) >= needed, "an interval of level ", level, " takes ",
                needed, " resamples, and there are ", nrow(resamples))
    limits <- bootstrap_interval(resamples, estimate, "envelope", level)
  }
  dimnames(limits) <- list(names(estimate), paste(format(100 * q, trim = TRUE,
                                                         digits = 3), "%"))
  limits[parm, , drop = FALSE]
}

# Minus the weighted log losses, without the penalty; weights have mean 1. df: the effective number of
# coefficients, the trace of H (H + lambda J)^-1.
logLik.linear_results <- function(object, ...) {
  needs_probabilities(object, "likelihood")
  losses <- object$weights * log_losses(object$y * object$scores)
  structure(-object$nobs * mean(losses),
            df = curvature_of(object)$df,
            nobs = object$nobs, class = "logLik")
}

nobs.linear_results <- function(object, ...) object$nobs

# Probabilities of the second level; of an SVM the predicted levels.
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

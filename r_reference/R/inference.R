# Standard errors, intervals and what else R's generics ask of a fit. Beside it stand
# pegasos_stats/models/inference/sandwich.py and bootstrap.py.

# Log loss: V = H^-1 G H^-1 / n at the optimum, type "HC0" to "HC3" or "nonrobust", for
# which G = H - lambda J. resamples: of bootstrap_fit(), whose covariance is taken then.
# NA where maximum likelihood was asked for and does not exist.
vcov.linear_results <- function(object, type = NULL, resamples = NULL, ...) {
  names <- names(object$coefficients)
  V <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
  if (object$estimator == "fallback") {
    warning(object$note, call. = FALSE)
    return(V)
  }
  if (!is.null(resamples)) return(resampled_covariance(resamples))
  type <- type_or_default(object, type)
  stop_unless(object$loss == "log", "an SVM has standard errors by resampling only; ",
              "give resamples = bootstrap_fit(fit)")
  stop_unless(object$estimator != "flic", "penalty = \"flic\" is for predictions; ",
              "penalty = \"firth\" has standard errors")
  estimable <- which(!is.na(object$coefficients))
  if (object$estimator == "firth") {
    stop_unless(type == "nonrobust", "Firth's penalty has the standard errors of the ",
                "model only; leave out type")
    V[estimable, estimable] <- sandwich(object, type, object$counts, estimable)
    return(V)
  }
  at <- object$certificate
  if (at$gap > 1e-3 * at$objective) {
    warning("standard errors are those of the optimum, and the relative gap of this fit ",
            "is ", format(at$gap / at$objective, digits = 2), "; leave out solver",
            call. = FALSE)
  }
  stop_unless(type != "nonrobust" || all(object$weights == 1),
              "type = \"nonrobust\" does not go with weights; give \"HC3\"")
  w <- object$weights
  separated <- object$lam > 0 & separated_rows(object)
  if (!any(separated)) {
    V[estimable, estimable] <- sandwich(object, type, w, estimable)
    return(V)
  }
  w[separated] <- 0
  part <- determined_by(scaled_columns(object)[w > 0, , drop = FALSE])
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

# Of the finite resamples, NA where they are too few.
resampled_covariance <- function(resamples) {
  resamples <- resamples[rowSums(!is.na(resamples)) > 0, , drop = FALSE]
  finite <- finite_resamples(resamples)
  V <- cov(resamples[finite, , drop = FALSE])
  if (mean(finite) < 0.975) V[] <- NA
  V
}

# Too many infinite ones leave no covariance and no limits.
finite_resamples <- function(resamples) {
  finite <- rowSums(is.infinite(resamples)) == 0
  if (mean(finite) < 0.975) {
    warning(sum(!finite), " of ", length(finite), " resamples have no maximum likelihood ",
            "estimate: do not rely on them; give penalty = \"firth\"", call. = FALSE)
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

# The covariance of some coefficients by the rows with a weight.
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

# Of the rows: w p (1 - p) z' (H + lambda J)^-1 z / n.
leverages <- function(at, w) {
  w * at$s * (1 - at$s) * rowSums((at$Z %*% at$inverse) * at$Z) / nrow(at$Z)
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
  rows <- Z * sqrt(w * dlogis(object$scores) / length(s))
  H <- crossprod(rows)
  back <- diag(ncol(Z))
  if (intercept) back[1, -1] <- -centre
  J <- c(if (intercept) 0, rep(1, ncol(X)))
  # By an orthogonal decomposition, as columns may be nearly collinear.
  decomposed <- qr(rbind(rows, diag(sqrt(object$lam * J), length(J))), tol = 0)
  inverse <- chol2inv(qr.R(decomposed))
  list(Z = Z, back = back, s = s, H = H, inverse = inverse, df = sum(inverse * t(H)))
}

# The coefficient that the penalty moved most, in standard errors without penalty: by one
# Newton step from the fit towards lambda = 0, H0^-1 lambda J theta over (n H0)^-1. NULL
# where there is no penalty, or no unpenalised estimate.
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

# Coefficients of resamples, a row each; NA where one has a single level. The rows are
# those of bootstrap_rows() after set.seed(seed); the generator is left as it was. Without
# penalty a resample is infinite where it has no estimate.
bootstrap_fit <- function(fit, replicates = 999, seed = 1, tol = 1e-6) {
  stop_unless(!fit$estimator %in% c("firth", "flic", "fallback"),
              if (is.null(fit$note)) "Firth's penalty has intervals by the profile"
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

# Normal limits; of resamples the envelope, see bootstrap_interval(). method "profile":
# where the likelihood is significantly below its maximum, which Firth's penalty has as
# default.
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
    stop_unless(nrow(resamples) >= needed, "an interval of level ", level, " takes ",
                needed, " resamples, and there are ", nrow(resamples))
    finite_resamples(resamples)
    limits[] <- bootstrap_interval(resamples, estimate, "envelope", level)
    limits[!is.finite(limits)] <- NA
  }
  dimnames(limits) <- list(names(estimate), paste(format(100 * q, trim = TRUE,
                                                         digits = 3), "%"))
  limits[parm, , drop = FALSE]
}

check_profile <- function(object, type, resamples) {
  stop_unless(object$estimator %in% c("likelihood", "firth"), "method = \"profile\" is ",
              "for maximum likelihood and Firth's penalty; fit logit() without lam")
  stop_unless(is.null(type) && is.null(resamples), "method = \"profile\" has no type ",
              "and takes no resamples")
  stop_unless(object$estimator == "firth" || all(object$weights == 1),
              "method = \"profile\" does not go with weights; leave out method")
}

# Minus the weighted log losses, without the penalty; weights have mean 1. df: the rank, or
# the effective number of coefficients, the trace of H (H + lambda J)^-1.
logLik.linear_results <- function(object, ...) {
  needs_probabilities(object, "likelihood")
  structure(-sum(likelihood_weights(object) * log_losses(object$y * object$scores)),
            df = if (is.null(object$rank)) curvature_of(object)$df else object$rank,
            nobs = object$nobs, class = "logLik")
}

# Counts of Firth's penalty; otherwise weights whose mean is 1 over the rows that count.
likelihood_weights <- function(object) {
  if (object$estimator %in% c("firth", "flic")) object$counts else
    object$weights * object$nobs / length(object$y)
}

deviance.linear_results <- function(object, ...) -2 * as.numeric(logLik(object))

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

# A fit as data frames: methods for broom's tidy(), glance() and augment(), with its column
# names. Counterparts: the methods in pegasos_stats/models/linear_results.py.

# std.error and the columns that depend on it are NA if the fit has no standard errors. With
# Firth's penalty, the statistic is the signed root of the likelihood ratio.
tidy.linear_results <- function(x, conf.int = FALSE, conf.level = 0.95,
                                exponentiate = FALSE, type = NULL, resamples = NULL, ...) {
  if (exponentiate) needs_probabilities(x, "odds")
  estimate <- x$coefficients
  error <- statistic <- p_value <- rep(NA_real_, length(estimate))
  if (!is.null(resamples)) {
    error <- sqrt(diag(vcov(x, resamples = resamples)))
  } else if (!is.null(table <- summary(x, type)$table)) {
    error <- table[, "Std. Error"]
    statistic <- if (x$estimator == "firth") sign(estimate) * sqrt(table[, "Chisq"]) else
      table[, "z value"]
    p_value <- table[, ncol(table)]
  }
  change <- if (exponentiate) exp else identity
  result <- data.frame(term = names(estimate), estimate = change(estimate),
                       std.error = error, statistic = statistic, p.value = p_value,
                       row.names = NULL)
  if (conf.int) {
    limits <- change(confint(x, level = conf.level, type = type, resamples = resamples, ...))
    result[c("conf.low", "conf.high")] <- list(limits[, 1], limits[, 2])
  }
  result
}

# The columns for a glm(), then lam, the objective and its gap. The likelihood of an SVM and
# the gap with Firth's penalty are NA.
glance.linear_results <- function(x, ...) {
  result <- data.frame(null.deviance = NA_real_, df.null = x$nobs - x$intercept,
                       logLik = NA_real_, AIC = NA_real_, BIC = NA_real_,
                       deviance = NA_real_, df.residual = df.residual(x), nobs = x$nobs,
                       lam = x$lam, objective = NA_real_, gap = NA_real_)
  if (x$loss == "log") {
    result$null.deviance <- submodel(x, integer())[1]
    likelihood <- logLik(x)
    result[c("logLik", "AIC", "BIC", "deviance")] <-
      c(likelihood, AIC(likelihood), BIC(likelihood), -2 * likelihood)
  }
  if (!is.null(x$certificate)) {
    result[c("objective", "gap")] <- x$certificate[c("objective", "gap")]
  }
  result
}

# Fitted values and residuals of the training rows, which are found in `data` by their row
# names, or predictions for newdata. .fitted is the score (or probability), .class the
# predicted class.
augment.linear_results <- function(x, data = x$model, newdata = NULL,
                                   type.predict = c("link", "response"),
                                   type.residuals = c("deviance", "pearson"),
                                   se_fit = FALSE, type = NULL, resamples = NULL, ...) {
  type.predict <- match.arg(type.predict)
  type.residuals <- match.arg(type.residuals)
  x$na.action <- NULL  # only values of training rows, none for excluded rows
  if (is.null(newdata)) {
    rows <- match(rownames(x$model), rownames(data))
    stop_unless(!anyNA(rows), "data does not contain all training rows; pass new rows as ",
                "newdata")
    result <- data[rows, , drop = FALSE]
    score <- x$scores
    Z <- model.matrix(x)
    result$.fitted <- predict(x, type = type.predict)
    result$.class <- predict(x)
  } else {
    result <- newdata
    score <- predict(x, newdata, "link")
    X <- new_rows(x, newdata)$X
    Z <- cbind(if (x$intercept) rep(1, nrow(X)), X)
    result$.fitted <- predict(x, newdata, type.predict)
    result$.class <- predict(x, newdata)
  }
  if (se_fit) {
    estimable <- !is.na(x$coefficients)
    Z <- Z[, estimable, drop = FALSE]
    V <- vcov(x, type, resamples)[estimable, estimable]
    result$.se.fit <- sqrt(rowSums((Z %*% V) * Z)) *
      if (type.predict == "response") dlogis(score - x$prior_shift) else 1
  }
  if (is.null(newdata) && x$loss == "log") {
    result$.resid <- residuals(x, type.residuals)
    result$.hat <- hatvalues(x)
    result$.cooksd <- cooks.distance(x)
    result$.std.resid <- rstandard(x)
  }
  result
}

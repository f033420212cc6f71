# Methods of further generics of R, and figures. Counterparts:
# pegasos_stats/models/diagnostics.py and pegasos_stats/output/plotting/result_plots.py.

family.linear_results <- function(object, ...) {
  needs_probabilities(object, "family")
  binomial()
}

# The columns of the coefficients, with their names.
model.matrix.linear_results <- function(object, ...) {
  Z <- cbind(if (object$intercept) rep(1, nrow(object$X)), object$X)
  dimnames(Z) <- list(rownames(object$X), names(object$coefficients))
  structure(Z, assign = c(if (object$intercept) 0L, object$assign),
            contrasts = object$contrasts)
}

df.residual.linear_results <- function(object, ...) {
  object$nobs - sum(!is.na(object$coefficients))
}

# step() and drop1() call this method.
extractAIC.linear_results <- function(fit, scale = 0, k = 2, ...) {
  likelihood <- logLik(fit)
  df <- attr(likelihood, "df")
  c(df, k * df - 2 * as.numeric(likelihood))
}

# The diagonal of W^1/2 Z (Z'WZ + n lam J)^-1 Z' W^1/2.
hatvalues.linear_results <- function(model, ...) {
  needs_probabilities(model, "leverages")
  estimable <- which(!is.na(model$coefficients))
  naresid(model$na.action,
          leverages(curvature_of(model, model$counts, estimable), model$counts))
}

cooks.distance.linear_results <- function(model, ...) {
  h <- hatvalues(model)
  (residuals(model, "pearson") / (1 - h))^2 * h / sum(!is.na(model$coefficients))
}

rstandard.linear_results <- function(model, ...) {
  residuals(model, "deviance") / sqrt(1 - hatvalues(model))
}

# Figures of the training data: scores by class, ROC curve, coefficients.
plot.linear_results <- function(x, which = c("scores", "roc", "coefficients"),
                                level = 0.95, resamples = NULL, ...) {
  which <- match.arg(which, several.ok = TRUE)
  if (length(which) > 1 && dev.interactive()) {
    before <- devAskNewPage(TRUE)
    on.exit(devAskNewPage(before))
  }
  for (figure in which) {
    switch(figure, scores = plot_scores(x, ...), roc = plot_roc(x, ...),
           coefficients = plot_coefficients(x, level, resamples, ...))
  }
  invisible(x)
}

plot_scores <- function(x, main = "Scores of the training data", ...) {
  boxplot(x$scores ~ factor(decode_labels(x$y, x$levels), x$levels), horizontal = TRUE,
          las = 1, xlab = "Score", ylab = "", main = main, ...)
  abline(v = 0, lty = 2)
}

# The ROC curve goes up for each row of the second class and right for each row of the
# first; equal scores form one step. The area is the Mann-Whitney statistic.
plot_roc <- function(x, main = "ROC curve of the training data", ...) {
  share <- function(sign) {
    c(0, vapply(sort(unique(x$scores), decreasing = TRUE),
                function(cut) mean(x$scores[x$y == sign] >= cut), 0))
  }
  plot(share(-1), share(1), type = "l", asp = 1, las = 1, xlim = 0:1, ylim = 0:1,
       xlab = "1 - specificity", ylab = "Sensitivity", main = main, ...)
  abline(0, 1, lty = 2)
  mtext(paste("Area", format(area_under_roc(x$scores, x$y), digits = 3)))
}

area_under_roc <- function(scores, y) {
  mean(rank(scores)[y > 0] - (sum(y > 0) + 1) / 2) / sum(y < 0)
}

# With intervals; for an SVM they need resamples.
plot_coefficients <- function(x, level, resamples,
                              main = paste0("Coefficients and ", 100 * level,
                                            "% intervals"), ...) {
  estimate <- x$beta
  has_limits <- near_optimum(x) || x$estimator == "firth" || !is.null(resamples)
  limits <- matrix(estimate, length(estimate), 2)
  if (has_limits) {
    limits <- confint(x, names(estimate), level, resamples = resamples)
  } else if (missing(main)) {
    main <- "Coefficients"
  }
  at <- rev(seq_along(estimate))
  plot(estimate, at, pch = 19, xlim = range(0, estimate, limits, finite = TRUE), yaxt = "n",
       xlab = "", ylab = "", main = main, ...)
  segments(limits[, 1], at, limits[, 2], at)
  axis(2, at, names(estimate), las = 1)
  abline(v = 0, lty = 2)
}

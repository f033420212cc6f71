# Likelihood ratio and Wald tests of the terms of a logistic regression. Counterparts:
# anova() in pegasos_stats/models/diagnostics.py, and result.wald_test_terms().

# One model: its terms are added one by one. Several: each is compared with the previous one.
anova.linear_results <- function(object, ..., test = "Chisq") {
  match.arg(test, c("Chisq", "LRT"))
  models <- list(object, ...)
  for (model in models) check_ratio(model)
  formulas <- vapply(models, function(model) {
    paste(trimws(deparse(model$formula)), collapse = " ")
  }, "")
  if (length(models) == 1) {
    terms <- labels(object$terms)
    fits <- lapply(0:length(terms), function(k) submodel(object, object$assign <= k))
    heading <- c("Analysis of Deviance Table\n", paste0("Model: ", formulas, "\n"),
                 "Terms added sequentially (first to last)\n")
  } else {
    for (k in seq_along(models)[-1]) check_nested(models[[k - 1]], models[[k]])
    fits <- lapply(models, function(model) c(deviance(model), model$rank))
    heading <- c("Analysis of Deviance Table\n",
                 paste0("Model ", seq_along(models), ": ", formulas, collapse = "\n"))
  }
  deviances <- vapply(fits, `[`, 0, 1)
  ranks <- vapply(fits, `[`, 0, 2)
  change <- list(Df = c(NA, diff(ranks)), Deviance = c(NA, -diff(deviances)))
  rest <- list("Resid. Df" = object$nobs - ranks, "Resid. Dev" = deviances)
  table <- if (length(models) == 1) c(change, rest) else c(rest, change)
  table[["Pr(>Chi)"]] <- chisq_tail(change$Deviance, change$Df)
  anova_table(table, if (length(models) == 1) c("NULL", terms) else seq_along(models), heading)
}

# The deviance and the rank of the maximum likelihood fit with some of the columns.
submodel <- function(object, columns) {
  fit <- maximum_likelihood(object$X[, columns, drop = FALSE], object$y, object$intercept,
                            object$counts, object$offset)
  c(2 * sum(likelihood_weights(object) * log_losses(object$y * fit$scores)), fit$rank)
}

chisq_tail <- function(statistic, df) {
  ifelse(df > 0, pchisq(pmax(statistic, 0), df, lower.tail = FALSE), NA)
}

anova_table <- function(columns, rows, heading) {
  table <- data.frame(columns, row.names = rows, check.names = FALSE)
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

check_ratio <- function(model) {
  stop_unless(inherits(model, "linear_results") && model$estimator == "likelihood" &&
                all(model$weights == 1), "likelihood ratio tests need a logit() without lam, ",
              "penalty or weights; for other fits, car::Anova() computes Wald tests")
}

check_nested <- function(small, large) {
  same <- function(name) identical(small[[name]], large[[name]])
  stop_unless(same("y") && same("offset") &&
                identical(rownames(small$X), rownames(large$X)),
              "the models are not fits to the same rows; use the same data for both")
  joined <- standardized_design(cbind(large$X, small$X), large$weights, large$intercept)
  stop_unless(small$intercept <= large$intercept && ncol(joined$Z) == large$rank &&
                large$rank > small$rank, "the first model is not nested in the second; ",
              "write anova(small, large)")
}

# Method for the generic of car. Type "II" tests a term given the terms that do not contain
# it: its statistic is that of the term together with all terms that contain it, minus that
# of the latter. Type "III" tests a term given all others. vcov.: a matrix, or a function of
# the fit.
Anova.linear_results <- function(mod, type = c("II", "III", 2, 3),
                                 test.statistic = c("Wald", "LR"), vcov. = vcov, ...) {
  type <- match.arg(as.character(type[1]), c("II", "III", "2", "3"))
  type <- if (type %in% c("II", "2")) "II" else "III"
  wald <- match.arg(test.statistic) == "Wald"
  if (!wald) check_ratio(mod)
  columns <- c(if (mod$intercept) 0, mod$assign)
  estimable <- !is.na(mod$coefficients)
  V <- if (!wald) NULL else if (is.function(vcov.)) vcov.(mod) else vcov.
  statistic <- function(terms) {
    chosen <- columns %in% terms & estimable
    if (wald) return(c(wald_statistic(mod$coefficients[chosen],
                                      V[chosen, chosen, drop = FALSE]), sum(chosen)))
    submodel(mod, !mod$assign %in% terms) * c(1, -1)
  }
  factors <- attr(mod$terms, "factors")
  containing <- function(term) {
    contains <- function(other) all(factors[factors[, term] > 0, other] > 0)
    setdiff(Filter(contains, seq_len(ncol(factors))), term)
  }
  terms <- c(if (wald && mod$intercept && type == "III") 0, unique(mod$assign))
  tests <- vapply(terms, function(term) {
    others <- if (type == "II") containing(term)
    statistic(c(term, others)) - statistic(others)
  }, c(0, 0))
  table <- list(tests[1, ], Df = tests[2, ], "Pr(>Chisq)" = chisq_tail(tests[1, ], tests[2, ]))
  names(table)[1] <- if (wald) "Chisq" else "LR Chisq"
  anova_table(if (wald) table[c(2, 1, 3)] else table,
              c("(Intercept)", labels(mod$terms))[terms + 1],
              c(paste0("Analysis of Deviance Table (Type ", type, " tests)\n"),
                paste("Response:", deparse(mod$formula[[2]]))))
}

# b' V^-1 b, computed from the correlations, because coefficients may differ in scale.
wald_statistic <- function(b, V) {
  if (length(b) == 0) return(0)
  if (anyNA(V)) return(NA_real_)
  errors <- sqrt(diag(V))
  sum(b / errors * solve(V / outer(errors, errors), b / errors))
}

# Method for the generic of car: generalised variance inflation factors (Fox & Monette,
# 1992), det(R_term) det(R_others) / det(R), with the correlations R of the slopes.
vif.linear_results <- function(mod, ...) {
  needs_probabilities(mod, "variance inflation factors")
  stop_unless(!anyNA(mod$beta), "earlier columns determine ",
              paste(names(which(is.na(mod$beta))), collapse = ", "), "; omit these columns")
  inverse <- curvature_of(mod, mod$counts)$inverse
  R <- cov2cor(if (mod$intercept) inverse[-1, -1, drop = FALSE] else inverse)
  determinant_of <- function(chosen) det(R[chosen, chosen, drop = FALSE])
  terms <- seq_along(labels(mod$terms))
  stop_unless(length(terms) > 1, "variance inflation factors need at least two terms")
  factors <- vapply(terms, function(term) {
    own <- mod$assign == term
    determinant_of(own) * determinant_of(!own) / det(R)
  }, 0)
  names(factors) <- labels(mod$terms)
  df <- tabulate(mod$assign, length(terms))
  if (all(df == 1)) return(factors)
  cbind(GVIF = factors, Df = df, "GVIF^(1/(2*Df))" = factors^(1 / (2 * df)))
}

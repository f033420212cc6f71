# Models from a formula, their solvers, and methods of a fit, with the names of Python.
# Counterparts: pegasos_stats/models/linear.py and linear_results.py.

# `weights`, `subset` and `na.action` are as in glm(): the first two are evaluated in the
# data, then in the environment of the formula.
svm <- function(formula, data, lam = NULL, solver = Optimum(), coding = "factor",
                weights = NULL, subset, na.action = na.omit,
                loss = c("hinge", "squared_hinge")) {
  linear_fit(match.call(), match.arg(loss), solver, coding, parent.frame())
}

# Without lam, or with lam = 0, the estimation is by maximum likelihood.
logit <- function(formula, data, lam = NULL, solver = Optimum(), coding = "factor",
                  weights = NULL, subset, na.action = na.omit, penalty = NULL) {
  stop_unless(is.null(penalty) || identical(penalty, "firth") || identical(penalty, "flic"),
              "penalty must be \"firth\" or \"flic\"; omit it for a ridge or no penalty")
  linear_fit(match.call(), "log", solver, coding, parent.frame(), penalty)
}

pegasos_svm <- svm
pegasos_logit <- logit

.onAttach <- function(libname, pkgname) {
  packageStartupMessage("pegasosStats: svm() and logit() are also available as ",
                        "pegasos_svm() and pegasos_logit(), because e1071 exports svm() ",
                        "and car exports logit().")
}

# The certified optimum: see optimum() and maximum_likelihood().
Optimum <- function(tol = 1e-6, ties = "na") {
  stop_unless(is.numeric(tol) && length(tol) == 1 && isTRUE(tol > 0),
              "tol must be a number above 0, not ", paste(format(tol), collapse = ", "))
  as_solver("Optimum", as.list(environment()))
}

# Row numbers in `order` start at 1. Without a seed, R's generator continues in its state.
Pegasos <- function(epochs = 20, seed = NULL, order = "shuffle", steps = NULL,
                    batch_size = 1, project = FALSE, average = "none",
                    refit_intercept = FALSE, sample_kind = "rejection", ties = "na",
                    start = "zero", first_step = 1, step = "pegasos", tol = 0,
                    change_tol = 0) {
  as_solver("Pegasos", as.list(environment()))
}

# SDCA-perm, without intercept.
SDCA <- function(epochs = 100, seed = NULL, start = "zero", sample_kind = "rejection",
                 ties = "na", average = "none", random_stop = NULL) {
  as_solver("SDCA", as.list(environment()))
}

as_solver <- function(name, options) {
  apart <- c("seed", "sample_kind", "ties")
  list(name = name, seed = options$seed, sample_kind = options$sample_kind,
       ties = options$ties, options = options[setdiff(names(options), apart)])
}

# Fit the model of `call`, a call of svm() or logit() in the environment `where`.
linear_fit <- function(call, loss, solver, coding, where, penalty = NULL) {
  firth <- !is.null(penalty)
  stop_unless(is.list(solver) && is.character(solver$name),
              "solver must be Optimum(), Pegasos() or SDCA()")
  rows <- rows_of_call(call, where)
  frame <- rows$frame
  terms <- attr(frame, "terms")
  intercept <- attr(terms, "intercept") == 1
  X <- model.matrix(terms, frame)
  contrasts <- attr(X, "contrasts")
  assign <- attr(X, "assign")[colnames(X) != "(Intercept)"]
  X <- X[, colnames(X) != "(Intercept)", drop = FALSE]
  stop_unless(intercept || ncol(X) > 0, "the formula has no predictor and no intercept; ",
              "name a predictor")
  labels <- model.response(frame)
  stop_unless(all(is.finite(X)) && !anyNA(labels), "the outcome or a predictor is missing ",
              "or infinite in some row; exclude such rows")
  levels <- label_levels(labels, coding)
  y <- encode_labels(labels, levels)
  weights <- row_weights(rows$weights, y)
  nobs <- sum(weights > 0)
  offset <- model.offset(frame)
  if (is.null(offset)) offset <- rep(0, length(y))
  lam <- eval(call$lam, where)
  check_lam(lam, loss, solver)
  if (firth) check_firth(lam, solver, rows$weights, penalty, intercept)
  counts <- if (firth && !is.null(rows$weights)) rows$weights else weights
  data <- list(X = X, y = y, weights = weights, offset = offset)
  solution <- estimate(data, lam, loss, solver, intercept, if (firth) counts, penalty)
  lam <- solution$lam
  fit <- list(call = call, loss = loss, lam = lam, estimator = solution$estimator,
              solver = solver,
              formula = formula(terms), terms = terms, model = frame, assign = assign,
              xlevels = .getXlevels(terms, frame), contrasts = contrasts,
              levels = levels, outcome_levels = levels(factor_of(labels)),
              beta = setNames(solution$beta, colnames(X)),
              alpha = solution$alpha, violations = solution$violations, rows = solution$rows,
              dual = solution$a, certificate = solution$certificate, step = solution$step,
              penalised = solution$penalised, rank = solution$rank,
              nobs = if (firth) sum(counts) else nobs, n_iter = solution$n_iter,
              na.action = attr(frame, "na.action"), intercept = intercept, X = X, y = y,
              weights = weights, counts = counts, weighting = rows$weights,
              offset = offset)
  fit$coefficients <- c(if (intercept) c(Intercept = fit$alpha), fit$beta)
  # Class weights shift the log odds, which predictions correct; row weights do not.
  fit$prior_shift <- if (is.null(rows$weights) || is.numeric(rows$weights)) 0 else
    log(weights[y > 0][1]) - log(weights[y < 0][1])
  fit$scores <- solution$scores
  if (is.null(fit$scores)) fit$scores <- scores(X, fit$beta, fit$alpha) + offset
  labelled <- decode_labels(predict_sign(fit$scores, solver$ties), levels)
  fit$confusion <- confusion(labels, labelled, levels)
  class(fit) <- "linear_results"
  if (solution$estimator == "fallback") fit$note <- no_estimate_note(fit)
  warn_of_distance(fit)
  fit
}

check_lam <- function(lam, loss, solver) {
  by_steps <- solver$name == "Pegasos" || loss == "log" && solver$name == "SDCA"
  stop_unless(!is.null(lam) || !by_steps, solver$name, " has no default lam here; set ",
              "it, for example lam = 1, or omit solver")
  zero <- loss == "log" && solver$name == "Optimum"
  stop_unless(is.null(lam) || is.numeric(lam) && length(lam) == 1 &&
                isTRUE((lam > 0 || zero && lam == 0) && lam < Inf),
              "lam must be a number ", if (zero) "of 0 or more" else "above 0", ", not ",
              paste(format(lam), collapse = ", "))
}

check_firth <- function(lam, solver, weights, penalty, intercept) {
  option <- paste0("penalty = \"", penalty, "\"")
  stop_unless(is.null(lam), option, " cannot be combined with lam; omit lam")
  stop_unless(solver$name == "Optimum", option, " requires Optimum(), not ", solver$name,
              "(); omit solver")
  stop_unless(is.null(weights) || is.numeric(weights) && all(weights %% 1 == 0),
              option, " allows only weights that count rows: whole numbers")
  stop_unless(penalty == "firth" || intercept, option, " estimates the intercept again; ",
              "use a formula with an intercept")
}

# Estimate with Firth's penalty if there are counts. Otherwise, for the log loss with
# Optimum() and without lam or with lam = 0, by maximum likelihood if the estimate exists.
# Otherwise by the solver, with lam = 1/n if lam is NULL.
estimate <- function(data, lam, loss, solver, intercept, counts = NULL, penalty = NULL) {
  if (!is.null(counts)) {
    solution <- firth_fit(data$X, data$y, intercept, counts, data$offset)
    if (penalty == "flic") solution <- with_flic(solution, data$y, counts)
    return(c(solution, list(lam = 0, estimator = penalty)))
  }
  likelihood <- loss == "log" && solver$name == "Optimum" && (is.null(lam) || lam == 0)
  if (likelihood) {
    solution <- maximum_likelihood(data$X, data$y, intercept, data$weights, data$offset)
    if (solution$exists) return(c(solution, list(lam = 0, estimator = "likelihood")))
    stop_unless(is.null(lam), "the maximum likelihood estimate does not exist, or its ",
                "existence cannot be proved; use penalty = \"firth\" for inference, or a ",
                "lam above 0")
  }
  if (is.null(lam)) lam <- 1 / sum(data$weights > 0)
  problem <- c(data, list(lambda = lam, loss = loss))
  solution <- found_by(solver, problem, intercept)
  solution$certificate <- certificate(data$X, data$y, solution$beta, solution$alpha,
                                      solution$a, lam, loss, intercept, data$weights,
                                      data$offset)
  c(solution, list(lam = lam, estimator = if (likelihood) "fallback" else "penalised"))
}

warn_of_distance <- function(fit) {
  if (fit$estimator %in% c("likelihood", "firth", "flic")) {
    if (!isTRUE(fit$step <= 1e-6)) {
      warning("the next step of Newton's method is ", format(fit$step, digits = 2),
              " standard errors: some predictors are nearly collinear; omit one",
              call. = FALSE)
    }
    return(invisible())
  }
  gap <- fit$certificate$gap / fit$certificate$objective
  if (fit$solver$name == "Optimum" && isTRUE(gap > fit$solver$options$tol)) {
    warning("the relative duality gap is ", format(gap, digits = 2), ", above tol = ",
            fit$solver$options$tol, "; scale the predictors or increase lam", call. = FALSE)
  }
}

# The reason why a logit() without lam uses 1/n, and advice.
no_estimate_note <- function(fit) {
  paste0("The maximum likelihood estimate ", no_estimate_reason(fit), ". The fit uses the ",
         "penalty lam = 1/n and has no standard errors. Use penalty = \"firth\" for ",
         "inference, or a lam for prediction.")
}

no_estimate_reason <- function(fit) {
  separated <- all_separated(fit)
  if (!any(separated)) return("cannot be proved to exist")
  listing <- function(names) {
    shown <- paste(names[seq_len(min(5, length(names)))], collapse = ", ")
    if (length(names) > 5) paste0(shown, ", ...") else shown
  }
  ranges <- function(sign) {
    apply(fit$X[fit$weights > 0 & fit$y == sign, , drop = FALSE], 2, range)
  }
  low <- ranges(-1)
  high <- ranges(1)
  alone <- colnames(fit$X)[fit$intercept & (high[1, ] >= low[2, ] | high[2, ] <= low[1, ])]
  rest <- fit$weights > 0 & !separated
  paste("does not exist:", if (length(alone) > 0) {
    paste(listing(alone), if (length(alone) > 1) "separate" else "separates", "the classes")
  } else if (any(rest)) {
    names <- names(fit$coefficients)
    sure <- determined_by(scaled_columns(fit)[rest, , drop = FALSE])$sure
    paste("some rows are predicted with certainty by", listing(setdiff(names, names[sure])))
  } else {
    "the predictors together separate the classes completely"
  })
}

# The model frame of a call, without unused levels of predictors, and the weights: text, a
# list, or one number per row of the frame.
rows_of_call <- function(call, where) {
  formula <- eval(call$formula, where)
  stop_unless(inherits(formula, "formula") && length(formula) == 3,
              "the first argument must be a formula, such as outcome ~ x1 + x2")
  data <- eval(call$data, where)
  stop_unless(is.null(data) || is.data.frame(data),
              "data must be a data frame; convert a matrix with as.data.frame()")
  weights <- eval(call$weights, data, environment(formula))
  stop_unless(!is.character(weights) || identical(weights, "balanced"),
              "weights must be \"balanced\", a list, or numbers; write the name of a ",
              "column without quotes")
  call <- call[c(1, match(c("formula", "data", "subset", "na.action"), names(call), 0))]
  call[[1]] <- quote(stats::model.frame)
  if (is.null(call$na.action)) call$na.action <- na.omit
  if (is.numeric(weights)) call$weights <- weights
  frame <- eval(call, where)
  stop_unless(nrow(frame) > 0, "no row is complete: in each, the outcome or a predictor is ",
              "missing")
  stop_unless(is.null(dim(frame[[1]])),
              "the outcome has several columns; use one row per observation")
  list(frame = droplevels(frame, except = 1),
       weights = if (is.numeric(weights)) frame[["(weights)"]] else weights)
}

# Run the solver. A seed applies only to this run: afterwards the kind and the state of the
# random number generator are restored.
found_by <- function(solver, given, intercept) {
  if (!is.null(solver$seed)) {
    state <- random_state()
    on.exit(random_state_is(state))
    kind <- c(rejection = "Rejection", rounding = "Rounding")[[solver$sample_kind]]
    seed_generator(solver$seed, kind)
  }
  if (solver$name == "SDCA") {
    stop_unless(!intercept, "SDCA has no intercept here; use a formula with - 1, or omit ",
                "solver")
    return(c(do.call(sdca, c(given, solver$options)), list(alpha = 0)))
  }
  run <- if (solver$name == "Pegasos") pegasos else optimum
  do.call(run, c(given, list(intercept = intercept), solver$options))
}

stop_unless <- function(holds, ...) if (!holds) stop(..., call. = FALSE)

# type: "class" returns a factor, "label" text; "score" is another name for "link".
predict.linear_results <- function(object, newdata,
                                   type = c("class", "link", "response", "label",
                                            "score"), ...) {
  type <- match.arg(type)
  if (missing(newdata)) {
    score <- napredict(object$na.action, object$scores)
  } else {
    new <- new_rows(object, newdata)
    beta <- object$beta[!is.na(object$beta)]
    score <- scores(new$X[, names(beta), drop = FALSE], beta, object$alpha)
    if (!is.null(new$offset)) score <- score + new$offset
  }
  if (type %in% c("link", "score")) return(score)
  if (type == "response") {
    stop_unless(object$loss == "log", "an SVM has no probabilities; use ",
                "type = \"link\" for scores, or fit logit()")
    return(plogis(score - object$prior_shift))
  }
  labels <- decode_labels(predict_sign(score, object$solver$ties), object$levels)
  if (type == "label") labels else factor(labels, object$outcome_levels)
}

# The columns of the predictors, and the offset, of new rows.
new_rows <- function(object, newdata) {
  frame <- model.frame(delete.response(object$terms), newdata, na.action = na.pass,
                       xlev = object$xlevels)
  X <- model.matrix(attr(frame, "terms"), frame, contrasts.arg = object$contrasts)
  list(X = X[, colnames(X) != "(Intercept)", drop = FALSE], offset = model.offset(frame))
}

print.linear_results <- function(x, ...) {
  cat("Call:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  print(x$coefficients, ...)
  print_run(x)
  invisible(x)
}

# Print the model, the solver, the duality gap and the notes of a fit.
print_run <- function(x) {
  method <- if (x$loss == "hinge") "interior point" else "Newton's method"
  cat("\n", x$nobs, " rows, ", switch(x$estimator, firth = "Firth's penalty",
      flic = "Firth's penalty (FLIC)", likelihood = "maximum likelihood",
      paste0("loss ", x$loss, ", lam ", format(x$lam))),
      ", ", x$solver$name,
      if (x$solver$name == "Optimum") {
        paste0(" (", method, ", ", x$n_iter, " steps)")
      } else {
        paste0(", ", length(x$rows), " visits, ", x$violations, " violations")
      }, "\n", sep = "")
  at <- x$certificate
  if (x$estimator == "flic") {
    cat("Not certified")
  } else if (x$estimator == "firth") {
    cat("Penalised log likelihood ", format(x$penalised), "; not certified", sep = "")
  } else {
    cat("Objective ", format(at$objective), ", duality gap ", format(at$gap, digits = 2),
        " (relative ", format(at$gap / at$objective, digits = 2), ")", sep = "")
  }
  if (!is.null(x$step)) {
    cat("; the next step would be ", format(x$step, digits = 2), " standard errors",
        sep = "")
  }
  cat("\n")
  missing <- names(x$coefficients)[is.na(x$coefficients)]
  if (length(missing) > 0) {
    print_lines("Not estimated, because earlier columns determine them: ",
                paste(missing, collapse = ", "), ".")
  }
  if (!is.null(x$note)) print_lines(x$note)
  if (isTRUE(x$moved$by > 0.5)) {
    print_lines("The penalty moves ", x$moved$name, " by about ",
                format(x$moved$by, digits = 2), " standard errors. Intervals refer to the ",
                "shrunken coefficients.")
  }
}

print_lines <- function(...) cat(strwrap(paste0(...), 80), sep = "\n")

# A logistic regression near its optimum gets standard errors, normal tests and, with a
# penalty, the shift by the penalty. With Firth's penalty, intervals and tests use the
# profile likelihood. type: as for vcov().
summary.linear_results <- function(object, type = NULL, ...) {
  if (object$estimator == "firth") {
    object$table <- cbind(Estimate = object$coefficients,
                          "Std. Error" = sqrt(diag(vcov(object))), confint(object),
                          profile_tests(object))
    object$type <- "nonrobust"
  } else if (near_optimum(object)) {
    object$type <- type_or_default(object, type)
    se <- sqrt(diag(vcov(object, object$type)))
    z <- object$coefficients / se
    object$table <- cbind(Estimate = object$coefficients, "Std. Error" = se,
                          "z value" = z, "Pr(>|z|)" = 2 * pnorm(-abs(z)))
    object$moved <- penalty_shift(object)
  }
  structure(object, class = "summary.linear_results")
}

near_optimum <- function(object) {
  object$loss == "log" && !object$estimator %in% c("fallback", "flic") &&
    object$certificate$gap <= 1e-3 * object$certificate$objective
}

print.summary.linear_results <- function(x, ...) {
  if (is.null(x$table)) {
    print.linear_results(x, ...)
  } else {
    cat("Call:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    firth <- x$estimator == "firth"
    printCoefmat(x$table, cs.ind = if (firth) 1:4 else 1:2, tst.ind = if (firth) 5 else 3,
                 P.values = TRUE, has.Pvalue = TRUE)
    cat("Standard errors: ",
        if (firth) "model-based; intervals and tests use the profile likelihood"
        else if (x$type == "nonrobust") "model-based, as in glm()"
        else paste0(x$type,
                    if (all(x$weights == 1)) " (type = \"nonrobust\" for those of glm())"),
        ".\n", sep = "")
    print_run(x)
  }
  cat("\n")
  print(x$confusion)
  invisible(x)
}

predict.python_fit <- function(object, newdata,
                               type = c("label", "class", "link", "score"), ...) {
  type <- match.arg(type)
  stop_unless(!missing(newdata), "a fit from Python does not contain its training data; ",
              "pass newdata")
  if (type %in% c("link", "score")) return(score_fit(object, newdata))
  labels <- predict_fit(object, newdata)
  if (type == "class") factor(labels, json_levels(object)) else labels
}

print.python_fit <- function(x, ...) {
  cat("A linear fit from Python, loss ", x$loss, ", lambda ", x$lam$value$text, "\n",
      sep = "")
  if (length(x$methods) > 0) {
    runs <- vapply(x$methods, function(run) {
      ends <- if (run$iterations$text == "1") "" else if (run$unit == "pass") "es" else "s"
      paste0(run$name, " (", run$iterations$text, " ", run$unit, ends, ")")
    }, "")
    cat("Fitted by ", paste(runs, collapse = ", then "), "; ",
        if (is.list(x$seed)) paste("seed", x$seed$text) else "no random numbers", "\n",
        sep = "")
  }
  cat("\n")
  terms <- vapply(x$terms, function(term) exact(term$coefficient), 0)
  names(terms) <- vapply(x$terms, function(term) term$name, "")
  print(c(if (x$has_intercept) c(Intercept = exact(x$intercept)), terms), ...)
  invisible(x)
}

summary.python_fit <- function(object, ...) object

# Models by a formula, their solvers, and what a fit can do, by the names of Python.
# Beside it stand pegasos_stats/models/linear.py and linear_results.py.

# `weights`, `subset` and `na.action` are as in glm(): the first two are looked up in the
# data, then where the formula was written.
svm <- function(formula, data, lam = NULL, solver = Optimum(), coding = "factor",
                weights = NULL, subset, na.action = na.omit,
                loss = c("hinge", "squared_hinge")) {
  linear_fit(match.call(), match.arg(loss), solver, coding, parent.frame())
}

logit <- function(formula, data, lam = NULL, solver = Optimum(), coding = "factor",
                  weights = NULL, subset, na.action = na.omit) {
  linear_fit(match.call(), "log", solver, coding, parent.frame())
}

pegasos_svm <- svm
pegasos_logit <- logit

.onAttach <- function(libname, pkgname) {
  packageStartupMessage("pegasosStats: svm() and logit() are also pegasos_svm() and ",
                        "pegasos_logit(), as e1071 has an svm() too.")
}

# The certified optimum, by plain Newton steps: see optimum().
Optimum <- function(tol = 1e-6, ties = "na") {
  stop_unless(is.numeric(tol) && length(tol) == 1 && isTRUE(tol > 0),
              "tol must be a number above 0, not ", paste(format(tol), collapse = ", "))
  as_solver("Optimum", as.list(environment()))
}

# Rows of an order count from 1. Without a seed R's generator goes on as it is.
Pegasos <- function(epochs = 20, seed = NULL, order = "shuffle", steps = NULL,
                    batch_size = 1, project = FALSE, average = "none",
                    refit_intercept = FALSE, sample_kind = "rejection", ties = "na",
                    start = "zero", first_step = 1, step = "pegasos", tol = 0,
                    change_tol = 0) {
  as_solver("Pegasos", as.list(environment()))
}

# SDCA-perm, which has no intercept.
SDCA <- function(epochs = 100, seed = NULL, start = "zero", sample_kind = "rejection",
                 ties = "na") {
  as_solver("SDCA", as.list(environment()))
}

as_solver <- function(name, options) {
  apart <- c("seed", "sample_kind", "ties")
  list(name = name, seed = options$seed, sample_kind = options$sample_kind,
       ties = options$ties, options = options[setdiff(names(options), apart)])
}

# call: of svm() or logit(), from `where`.
linear_fit <- function(call, loss, solver, coding, where) {
  stop_unless(is.list(solver) && is.character(solver$name),
              "solver must be Optimum(), Pegasos() or SDCA()")
  rows <- rows_of_call(call, where)
  frame <- rows$frame
  terms <- attr(frame, "terms")
  intercept <- attr(terms, "intercept") == 1
  X <- model.matrix(terms, frame)
  contrasts <- attr(X, "contrasts")
  X <- X[, colnames(X) != "(Intercept)", drop = FALSE]
  stop_unless(intercept || ncol(X) > 0, "the formula has no predictor and no intercept; ",
              "name a predictor")
  labels <- model.response(frame)
  stop_unless(all(is.finite(X)) && !anyNA(labels), "the outcome or a predictor is missing ",
              "or infinite in some row; leave such rows out")
  levels <- label_levels(labels, coding)
  y <- encode_labels(labels, levels)
  weights <- row_weights(rows$weights, y)
  nobs <- sum(weights > 0)
  lam <- eval(call$lam, where)
  stop_unless(!is.null(lam) || solver$name != "Pegasos", "Pegasos takes steps of ",
              "1/(lam t) and has no default lam; give one, such as lam = 1, or leave ",
              "out solver")
  if (is.null(lam)) lam <- 1 / nobs
  stop_unless(is.numeric(lam) && length(lam) == 1 && isTRUE(lam > 0 && lam < Inf),
              "lam must be a number above 0, not ", paste(format(lam), collapse = ", "))
  offset <- model.offset(frame)
  if (is.null(offset)) offset <- rep(0, length(y))
  given <- list(X = X, y = y, lambda = lam, loss = loss, weights = weights,
                offset = offset)
  found <- found_by(solver, given, intercept)
  at <- certificate(X, y, found$beta, found$alpha, found$a, lam, loss, intercept,
                    weights, offset)
  fit <- list(call = call, loss = loss, lam = lam, solver = solver,
              formula = formula(terms), terms = terms,
              xlevels = .getXlevels(terms, frame), contrasts = contrasts,
              levels = levels, outcome_levels = levels(factor_of(labels)),
              beta = setNames(found$beta, colnames(X)),
              alpha = found$alpha, violations = found$violations, rows = found$rows,
              dual = found$a, certificate = at, nobs = nobs, n_iter = found$n_iter,
              na.action = attr(frame, "na.action"), intercept = intercept, X = X, y = y,
              weights = weights, weighting = rows$weights, offset = offset)
  fit$coefficients <- c(if (intercept) c(Intercept = fit$alpha), fit$beta)
  # Weights of the levels move the log odds; those of rows are of another population.
  fit$prior_shift <- if (is.null(rows$weights) || is.numeric(rows$weights)) 0 else
    log(weights[y > 0][1]) - log(weights[y < 0][1])
  fit$scores <- scores(X, fit$beta, fit$alpha) + offset
  labelled <- decode_labels(predict_sign(fit$scores, solver$ties), levels)
  fit$confusion <- confusion(labels, labelled, levels)
  class(fit) <- "linear_results"
  if (solver$name == "Optimum" && at$gap > solver$options$tol * at$objective) {
    warning("the optimum is known to a relative gap of ",
            format(at$gap / at$objective, digits = 2), ", not to tol = ",
            solver$options$tol, "; bring the predictors to one scale or increase lam",
            call. = FALSE)
  }
  fit
}

# The model frame of a call, without unused levels of predictors, and the weights: words,
# a list, or the numbers of the rows of the frame.
rows_of_call <- function(call, where) {
  formula <- eval(call$formula, where)
  stop_unless(inherits(formula, "formula") && length(formula) == 3,
              "the first argument must be a formula, such as outcome ~ x1 + x2")
  data <- eval(call$data, where)
  stop_unless(is.null(data) || is.data.frame(data),
              "data must be a data frame; as.data.frame() makes one of a matrix")
  weights <- eval(call$weights, data, environment(formula))
  stop_unless(!is.character(weights) || identical(weights, "balanced"),
              "weights must be \"balanced\", a list, or numbers; a column is given by ",
              "its name without quotes")
  call <- call[c(1, match(c("formula", "data", "subset", "na.action"), names(call), 0))]
  call[[1]] <- quote(stats::model.frame)
  if (is.null(call$na.action)) call$na.action <- na.omit
  if (is.numeric(weights)) call$weights <- weights
  frame <- eval(call, where)
  stop_unless(nrow(frame) > 0, "no row is complete; each lacks the outcome or a predictor")
  stop_unless(is.null(dim(frame[[1]])),
              "the outcome has several columns; give a row for each observation")
  list(frame = droplevels(frame, except = 1),
       weights = if (is.numeric(weights)) frame[["(weights)"]] else weights)
}

# What the solver finds. A seed is for the run alone: kinds and state of the generator
# are as before when it ends.
found_by <- function(solver, given, intercept) {
  if (!is.null(solver$seed)) {
    state <- random_state()
    on.exit(random_state_is(state))
    kind <- c(rejection = "Rejection", rounding = "Rounding")[[solver$sample_kind]]
    seed_generator(solver$seed, kind)
  }
  if (solver$name == "SDCA") {
    stop_unless(!intercept, "SDCA has no intercept here; give a formula with - 1, or ",
                "leave out solver")
    return(c(do.call(sdca, c(given, solver$options)), list(alpha = 0)))
  }
  run <- if (solver$name == "Pegasos") pegasos else optimum
  do.call(run, c(given, list(intercept = intercept), solver$options))
}

stop_unless <- function(holds, ...) if (!holds) stop(..., call. = FALSE)

# type: "class" is a factor, "label" text; "score" is another name of "link".
predict.linear_results <- function(object, newdata,
                                   type = c("class", "link", "response", "label",
                                            "score"), ...) {
  type <- match.arg(type)
  if (missing(newdata)) {
    score <- napredict(object$na.action, object$scores)
  } else {
    frame <- model.frame(delete.response(object$terms), newdata, na.action = na.pass,
                         xlev = object$xlevels)
    X <- model.matrix(attr(frame, "terms"), frame, contrasts.arg = object$contrasts)
    score <- scores(X[, names(object$beta), drop = FALSE], object$beta, object$alpha)
    offset <- model.offset(frame)
    if (!is.null(offset)) score <- score + offset
  }
  if (type %in% c("link", "score")) return(score)
  if (type == "response") {
    stop_unless(object$loss == "log", "an SVM has no probabilities; give ",
                "type = \"link\" for scores, or fit logit()")
    return(plogis(score - object$prior_shift))
  }
  labels <- decode_labels(predict_sign(score, object$solver$ties), object$levels)
  if (type == "label") labels else factor(labels, object$outcome_levels)
}

print.linear_results <- function(x, ...) {
  cat("Call:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  print(x$coefficients, ...)
  print_certificate(x)
  invisible(x)
}

print_certificate <- function(x) {
  at <- x$certificate
  cat("\n", x$nobs, " rows, loss ", x$loss, ", lam ", format(x$lam), ", ", x$solver$name,
      if (x$solver$name != "Optimum") {
        paste0(", ", length(x$rows), " visits, ", x$violations, " violations")
      },
      "\nObjective ", format(at$objective), ", duality gap ", format(at$gap, digits = 2),
      " (relative ", format(at$gap / at$objective, digits = 2), ")\n", sep = "")
}

# With the log loss, near the optimum, the coefficients have standard errors.
summary.linear_results <- function(object, ...) {
  near <- object$certificate$gap <= 1e-3 * object$certificate$objective
  if (object$loss == "log" && near) {
    se <- sqrt(diag(vcov(object)))
    z <- object$coefficients / se
    object$table <- cbind(Estimate = object$coefficients, "Std. Error" = se,
                          "z value" = z, "Pr(>|z|)" = 2 * pnorm(-abs(z)))
  }
  structure(object, class = "summary.linear_results")
}

print.summary.linear_results <- function(x, ...) {
  if (is.null(x$table)) {
    print.linear_results(x, ...)
  } else {
    cat("Call:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    printCoefmat(x$table)
    cat("Standard errors: HC3.\n")
    print_certificate(x)
  }
  cat("\n")
  print(x$confusion)
  invisible(x)
}

predict.python_fit <- function(object, newdata,
                               type = c("label", "class", "link", "score"), ...) {
  type <- match.arg(type)
  stop_unless(!missing(newdata), "a fit from Python has no rows with it; give newdata")
  if (type %in% c("link", "score")) return(score_fit(object, newdata))
  labels <- predict_fit(object, newdata)
  if (type == "class") factor(labels, json_levels(object)) else labels
}

print.python_fit <- function(x, ...) {
  cat("A linear fit from Python, loss ", x$loss, ", lambda ", x$lam$value$text, "\n\n",
      sep = "")
  terms <- vapply(x$terms, function(term) exact(term$coefficient), 0)
  names(terms) <- vapply(x$terms, function(term) term$name, "")
  print(c(if (x$has_intercept) c(Intercept = exact(x$intercept)), terms), ...)
  invisible(x)
}

summary.python_fit <- function(object, ...) object

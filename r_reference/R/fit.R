# Models by a formula, their solvers, and what a fit can do, by the names of Python.
# Beside it stand pegasos_stats/models/linear.py and linear_results.py.

svm <- function(formula, data, lam, solver = Pegasos(), coding = "factor",
                weights = NULL) {
  linear_fit(match.call(), "hinge", formula, data, lam, solver, coding, weights)
}

logit <- function(formula, data, lam, solver = Pegasos(), coding = "factor",
                  weights = NULL) {
  linear_fit(match.call(), "log", formula, data, lam, solver, coding, weights)
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

linear_fit <- function(call, loss, formula, data, lam, solver, coding, weights) {
  if (missing(lam)) {
    stop("lam has no default: Pegasos takes steps of 1/(lam t); give one, such as lam = 1",
         call. = FALSE)
  }
  frame <- model.frame(formula, data, na.action = na.omit)
  terms <- attr(frame, "terms")
  intercept <- attr(terms, "intercept") == 1
  X <- model.matrix(terms, frame)
  X <- X[, colnames(X) != "(Intercept)", drop = FALSE]
  labels <- model.response(frame)
  levels <- label_levels(labels, coding)
  y <- encode_labels(labels, levels)
  if (is.numeric(weights)) weights <- weights[match(rownames(frame), rownames(data))]
  weights <- row_weights(weights, y)
  if (!is.null(solver$seed)) {
    kind <- c(rejection = "Rejection", rounding = "Rounding")[[solver$sample_kind]]
    seed_generator(solver$seed, kind)
  }
  given <- list(X = X, y = y, lambda = lam, loss = loss, weights = weights)
  if (solver$name == "SDCA") {
    if (intercept) stop("SDCA has no intercept here: give a formula with - 1")
    found <- c(do.call(sdca, c(given, solver$options)), list(alpha = 0))
  } else {
    given$intercept <- intercept
    found <- do.call(pegasos, c(given, solver$options))
  }
  at <- certificate(X, y, found$beta, found$alpha, found$a, lam, loss, intercept,
                    weights)
  fit <- list(call = call, loss = loss, lam = lam, solver = solver, terms = terms,
              xlevels = .getXlevels(terms, frame), contrasts = attr(X, "contrasts"),
              levels = levels, beta = setNames(found$beta, colnames(X)),
              alpha = found$alpha, violations = found$violations, rows = found$rows,
              dual = found$a, certificate = at, nobs = length(y))
  fit$coefficients <- c(if (intercept) c(Intercept = fit$alpha), fit$beta)
  labelled <- decode_labels(predict_sign(scores(X, fit$beta, fit$alpha), solver$ties),
                            levels)
  fit$confusion <- confusion(labels, labelled, levels)
  class(fit) <- "linear_results"
  fit
}

predict.linear_results <- function(object, newdata, type = c("label", "score"), ...) {
  frame <- model.frame(delete.response(object$terms), newdata, na.action = na.pass,
                       xlev = object$xlevels)
  X <- model.matrix(attr(frame, "terms"), frame, contrasts.arg = object$contrasts)
  score <- scores(X[, names(object$beta), drop = FALSE], object$beta, object$alpha)
  if (match.arg(type) == "score") return(score)
  decode_labels(predict_sign(score, object$solver$ties), object$levels)
}

print.linear_results <- function(x, ...) {
  cat("Call:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  print(x$coefficients, ...)
  invisible(x)
}

summary.linear_results <- function(object, ...) {
  structure(object, class = "summary.linear_results")
}

print.summary.linear_results <- function(x, ...) {
  print.linear_results(x, ...)
  at <- x$certificate
  cat("\n", x$nobs, " rows, loss ", x$loss, ", lambda ", format(x$lam), ", ",
      x$solver$name, ", ", length(x$rows), " visits, ", x$violations, " violations\n",
      "Objective ", format(at$objective), ", duality gap ", format(at$gap), "\n\n",
      sep = "")
  print(x$confusion)
  invisible(x)
}

predict.python_fit <- function(object, newdata, type = c("label", "score"), ...) {
  if (match.arg(type) == "score") score_fit(object, newdata)
  else predict_fit(object, newdata)
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

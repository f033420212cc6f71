# Runs that R and Python do side by side: those of ps.check_against_r(), and those that
# `make parity` draws. Beside it stands pegasos_stats/studies/parity/check.py.

# given: a list of solver ("pegasos", "sdca" or "kernel"), X, labels, coding, weights (as
# for row_weights()), offset (of the rows, or NULL), seed, sample_kind, ties, and
# arguments, the options of the solver by their names. X is a matrix, or a list of p,
# ends, columns and values: see compressed_rows().
# Rows without a label or a weight are left out; those of arguments$order are counted
# from 1 among the others.

# What is fitted: everything that is known before the first step.
configured <- function(given) {
  kept <- !is.na(given$labels)
  by_row <- is.numeric(given$weights)
  if (by_row) kept <- kept & !is.na(given$weights)
  labels <- given$labels[kept]
  levels <- label_levels(labels, given$coding)
  y <- encode_labels(labels, levels)
  precomputed <- identical(given$arguments$kernel, "precomputed")
  X <- if (is.matrix(given$X)) {
    given$X[kept, if (precomputed) kept else TRUE, drop = FALSE]
  } else {
    of_rows(do.call(compressed_rows, given$X), kept)
  }
  weights <- row_weights(if (by_row) given$weights[kept] else given$weights, y)
  offset <- if (is.null(given$offset)) rep(0, length(y)) else given$offset[kept]
  list(X = X, y = y, weights = weights, offset = offset, levels = levels,
       labels = labels)
}

# Everything that is compared.
run_configuration <- function(given) {
  at <- configured(given)
  seed_generator(given$seed, given$sample_kind)
  asked <- c(list(X = at$X, y = at$y, weights = at$weights), given$arguments)
  if (given$solver != "kernel") asked$offset <- at$offset
  run <- switch(given$solver, pegasos = pegasos, sdca = sdca, kernel = kernel_pegasos)
  fit <- do.call(run, asked)
  if (given$solver == "sdca") fit <- c(fit, list(alpha = 0, n_iter = length(fit$rows)))
  scored <- configured_scores(given, at, fit)
  signs <- predict_sign(scored, given$ties)
  table <- confusion(at$labels, decode_labels(signs, at$levels), at$levels)
  c(fit, list(y = at$y, weights = at$weights, levels = at$levels, scores = scored,
              table = table, predicted = colnames(table)))
}

configured_scores <- function(given, at, fit) {
  if (given$solver != "kernel") return(scores(at$X, fit$beta, fit$alpha) + at$offset)
  options <- given$arguments
  shape <- options[intersect(names(options), c("kernel", "degree", "offset", "gamma"))]
  do.call(kernel_scores, c(list(at$X, at$X, at$y, fit$counts, fit$alpha, options$lambda,
                                fit$n_iter, weights = at$weights), shape))
}

# The state after the first steps at given rows, a list with those of each epoch: what
# is compared step by step where two runs part.
state_after <- function(given, epochs) {
  at <- configured(given)
  options <- given$arguments
  if (given$solver == "sdca") return(sdca_state(at, options, epochs))
  if (given$solver == "kernel") {
    options <- options[setdiff(names(options),
                               c("epochs", "order", "steps", "refit_intercept"))]
    return(do.call(kernel_pegasos_rows,
                   c(list(at$X, at$y, weights = at$weights, rows = unlist(epochs)),
                     options)))
  }
  from <- begun_with(given, at)
  averaged <- averaged_epochs(options$average, given$n_epochs)
  fit <- pegasos_form(at$X, options$step)(
    at$X, at$y, options$lambda, epochs, options$intercept, options$loss,
    options$batch_size, options$project, averaged, at$weights, from, options$step,
    function(fit) FALSE, at$offset)
  c(fit$last, list(a = fit$a, violations = fit$violations))
}

# beta, alpha and t before the first step.
begun_with <- function(given, at) {
  options <- given$arguments
  if (given$solver != "pegasos") {
    return(list(beta = rep(0, columns_of(at$X)), alpha = 0))
  }
  if (identical(options$start, "random")) seed_generator(given$seed, given$sample_kind)
  first_iterate(options$start, columns_of(at$X), options$intercept, options$lambda,
                options$first_step)
}

sdca_state <- function(at, options, epochs) {
  X <- if (is.matrix(at$X)) sparse_rows(at$X, at$X == at$X) else at$X
  state <- list(beta = rep(0, X$p), a = rep(0, length(at$y)), violations = 0)
  for (epoch in seq_along(epochs)) {
    pass <- if (options$start == "sgd" && epoch == 1) sgd_epoch else sdca_epoch
    state <- pass(state, X$rows, at$y, epochs[[epoch]], options$lambda, options$loss,
                  at$weights, at$offset)
  }
  c(state, list(alpha = 0))
}

# Margins of some rows, seen from the state after the epochs so far; at the first step
# from what the run begins with.
margins_after <- function(given, epochs, rows) {
  at <- configured(given)
  state <- if (length(epochs) > 0) state_after(given, epochs) else begun_with(given, at)
  if (given$solver == "kernel") {
    if (length(epochs) == 0) return(rep(0, length(rows)))
    seen <- 1 / (given$arguments$lambda * length(unlist(epochs))) * state$g[rows]
    return(at$y[rows] * (seen + state$alpha))
  }
  at$y[rows] * (scores(of_rows(at$X, rows), state$beta, state$alpha) + at$offset[rows])
}

# Configurations that run in R and in Python: from ps.check_against_r(), and random ones
# from `make parity`. Counterpart: pegasos_stats/studies/parity.py.

# given: a list of solver ("pegasos", "sdca" or "kernel"), X, labels, coding, weights (as
# for row_weights()), offset (one number per row, or NULL), seed, sample_kind, ties, and
# arguments, the options of the solver by name. X is a matrix, or a list of p, ends, columns
# and values: see compressed_rows().
# Rows without a label or a weight are excluded; arguments$order numbers the remaining rows
# from 1.

# The data of a configuration, prepared for the fit.
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

# All results that are compared; the state of the generator is restored.
run_configuration <- function(given) {
  state <- random_state()
  on.exit(random_state_is(state))
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

# The configurations that R and Python draw against each other by `make parity`.
# Beside it stands tests/parity/configurations.py.

# given: a list of solver ("pegasos", "sdca" or "kernel"), X, labels, coding, weights (as
# for row_weights()), seed, sample_kind, ties, stored (entries kept of sparse rows, or
# NULL for dense ones), and arguments, the options of the solver by their names.
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
  X <- given$X[kept, if (precomputed) kept else TRUE, drop = FALSE]
  if (!is.null(given$stored)) X <- sparse_rows(X, given$stored[kept, , drop = FALSE])
  weights <- row_weights(if (by_row) given$weights[kept] else given$weights, y)
  list(X = X, y = y, weights = weights, levels = levels, labels = labels)
}

# Everything that is compared.
run_configuration <- function(given) {
  at <- configured(given)
  seed_generator(given$seed, given$sample_kind)
  asked <- c(list(X = at$X, y = at$y, weights = at$weights), given$arguments)
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
  if (given$solver != "kernel") return(scores(at$X, fit$beta, fit$alpha))
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
  if (identical(options$start, "random")) seed_generator(given$seed, given$sample_kind)
  from <- first_iterate(options$start, columns_of(at$X), options$intercept,
                        options$lambda, options$first_step)
  averaged <- averaged_epochs(options$average, given$n_epochs)
  fit <- pegasos_form(at$X, options$step)(
    at$X, at$y, options$lambda, epochs, options$intercept, options$loss,
    options$batch_size, options$project, averaged, at$weights, from, options$step,
    function(fit) FALSE, rep(0, length(at$y)))
  c(fit$last, list(a = fit$a, violations = fit$violations))
}

sdca_state <- function(at, options, epochs) {
  X <- if (is.matrix(at$X)) sparse_rows(at$X, at$X == at$X) else at$X
  state <- list(beta = rep(0, X$p), a = rep(0, length(at$y)), violations = 0)
  for (epoch in seq_along(epochs)) {
    pass <- if (options$start == "sgd" && epoch == 1) sgd_epoch else sdca_epoch
    state <- pass(state, X$rows, at$y, epochs[[epoch]], options$lambda, options$loss,
                  at$weights, rep(0, length(at$y)))
  }
  c(state, list(alpha = 0))
}

# Margins of some rows, seen from the state after the epochs so far: 0 at the first step.
margins_after <- function(given, epochs, rows) {
  at <- configured(given)
  if (length(epochs) == 0) return(rep(0, length(rows)))
  state <- state_after(given, epochs)
  if (given$solver == "kernel") {
    seen <- 1 / (given$arguments$lambda * length(unlist(epochs))) * state$g[rows]
    return(at$y[rows] * (seen + state$alpha))
  }
  X <- if (is.matrix(at$X)) at$X[rows, , drop = FALSE]
       else list(p = at$X$p, rows = at$X$rows[rows])
  at$y[rows] * scores(X, state$beta, state$alpha)
}

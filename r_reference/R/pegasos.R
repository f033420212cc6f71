# Pegasos: stochastic sub-gradient steps for the hinge losses and the log loss.
# Counterparts: pegasos_stats/compiled/pegasos.py, solvers/pegasos.py and
# solvers/pegasos_run.py. The steps are in pegasos_literal.R (dense rows), pegasos_scaled.R
# and pegasos_stepped.R (sparse rows).
#
# Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
# figures 1 and 2, with an intercept that is not penalised.

# X: matrix, n x p, or sparse_rows().  y: n numbers, -1 or +1.  The caller sets the seed.
# loss: "hinge", "log", "squared_hinge".  order, steps: see epochs_of_rows().  average:
# "none", "all", or a number of last epochs.  weights: weights of the rows' losses, with mean
# 1.  offset: fixed part of each row's score.
# start: see first_iterate().  first_step: the number t of the first step.  step: see
# step_size().  tol, change_tol: see stopping(); `epochs` or `steps` is then the maximum.
# Value: beta, alpha, violations (visits with a margin below 1; log loss: below 0), rows
# (the visited rows, in order), n_iter (steps), n_epochs, a (dual weights: for a run from
# zero with t from 1, beta is the sum of a * y * x over the rows, divided by lambda * n),
# last (beta and alpha of the last iterate).
pegasos <- function(X, y, lambda, epochs = 1, intercept = TRUE, loss = "hinge",
                    order = "shuffle", steps = NULL, batch_size = 1, project = FALSE,
                    average = "none", refit_intercept = FALSE,
                    weights = rep(1, length(y)), start = "zero", first_step = 1,
                    step = "pegasos", tol = 0, change_tol = 0,
                    offset = rep(0, length(y))) {
  from <- first_iterate(start, columns_of(X), intercept, lambda, first_step)
  rows <- epochs_of_rows(length(y), epochs, order, steps, batch_size)
  refitted <- function(fit) {
    if (refit_intercept) {
      fit$alpha <- best_intercept(scores(X, fit$beta, 0) + offset, y, loss, weights)
    }
    fit
  }
  near <- stopping(X, y, lambda, loss, intercept, weights, tol, change_tol, from, offset)
  run <- pegasos_form(X, step)
  fit <- run(X, y, lambda, rows, intercept, loss, batch_size, project,
             averaged_epochs(average, length(rows)), weights, from, step,
             function(fit) near(refitted(fit)), offset)
  fit <- refitted(fit)
  fit$rows <- unlist(rows[seq_len(fit$n_epochs)])
  fit
}

# The function that takes the steps: one for dense rows, one for sparse rows with steps of
# size 1 / (lambda * t), one for sparse rows with other steps.
pegasos_form <- function(X, step) {
  if (is.matrix(X)) return(pegasos_literal)
  if (identical(step, "pegasos")) pegasos_scaled else pegasos_stepped
}

columns_of <- function(X) {
  if (is.matrix(X)) ncol(X) else X$p
}

# Pegasos: stochastic sub-gradient steps for the hinge loss and the log loss.
# Beside it stand pegasos_stats/compiled/pegasos/pegasos.py and, of solvers/, pegasos.py
# and pegasos_run.py; the steps are in pegasos_literal.R (dense rows) and
# pegasos_scaled.R (sparse rows).
#
# Shalev-Shwartz, Singer, Srebro & Cotter, Mathematical Programming B 127 (2011),
# figures 1 and 2, with an intercept that is not penalised.

# X: matrix, n x p, or sparse_rows().  y: n numbers, -1 or +1.  The caller sets the seed.
# loss: "hinge", "log".  order, steps: see epochs_of_rows().  average: "none", "all", or
# a number of last epochs.  weights: of each row's loss, with mean 1.
# Value: beta, alpha, violations (visits with a margin below 1; log loss: below 0), rows
# (visited, in order), n_iter (steps), a (dual weights: beta is the sum of a * y * x over
# the rows, divided by lambda * n), last (beta and alpha of the last iterate).
pegasos <- function(X, y, lambda, epochs = 1, intercept = TRUE, loss = "hinge",
                    order = "shuffle", steps = NULL, batch_size = 1, project = FALSE,
                    average = "none", refit_intercept = FALSE,
                    weights = rep(1, length(y))) {
  rows <- epochs_of_rows(length(y), epochs, order, steps, batch_size)
  run <- if (is.matrix(X)) pegasos_literal else pegasos_scaled
  fit <- run(X, y, lambda, rows, intercept, loss, batch_size, project,
             averaged_epochs(average, length(rows)), weights)
  if (refit_intercept) {
    fit$alpha <- best_intercept(scores(X, fit$beta, 0), y, loss, weights)
  }
  fit$rows <- unlist(rows)
  fit
}

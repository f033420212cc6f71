# Steps of any size on sparse rows: a step changes only the coefficients of the entries in
# its rows. Counterpart: pegasos_stats/compiled/pegasos.py.
#
# beta = unit * w. A step of size eta multiplies unit by 1 - eta * lambda; its additions to
# beta are divided by unit. State, average and projection are as in pegasos_scaled.R.

# step: see step_size(); the other arguments are as for pegasos_scaled().
pegasos_stepped <- function(X, y, lambda, epochs, intercept, loss, batch_size, project,
                            averaged, weights, from, step, done, offset) {
  take <- function(state, batch, average) {
    t <- state$t + 1
    eta <- step_size(step, t, t - from$t, lambda, length(y))
    stepped(state, X, y, batch, lambda, eta, intercept, loss, project, average, weights,
            offset)
  }
  state <- scaled_state(from, length(y), v = 1)
  scaled_run(state, take, epochs, averaged, batch_size, from, step, done)
}

stepped <- function(state, X, y, batch, lambda, eta, intercept, loss, project, average,
                    weights, offset) {
  seen <- batch_seen(state, X, y, batch, loss, weights, offset)
  state$violations <- state$violations + seen$violations
  state$t <- state$t + 1
  kept <- 1 - eta * lambda
  state$unit <- kept * state$unit
  state$a <- kept * state$a
  least <- if (average) 2^-10 else 2^-200
  if (abs(state$unit) < least) state <- unit_absorbed(settled(state))
  state$scale <- state$unit / eta
  h <- 0
  for (k in which(seen$slopes != 0)) {
    i <- batch[k]
    h <- h + seen$slopes[k] * y[i]
    share <- seen$slopes[k] / length(batch)
    state$a[i] <- state$a[i] + eta * lambda * share
    state <- row_added(state, X$rows[[i]], share * y[i] / state$scale, project, average)
  }
  if (intercept) state$alpha <- state$alpha + eta * (h / length(batch))
  if (project && state$norm2 > 0) {
    f <- projection(abs(state$unit) * sqrt(state$norm2), lambda)
    state$unit <- f * state$unit
    state$a <- f * state$a
  }
  if (average) iterate_counted(state) else state
}

# Multiply w by the unit, before the unit becomes too small.
unit_absorbed <- function(state) {
  state$norm2 <- state$norm2 * (state$unit * state$unit)
  state$w <- state$unit * state$w
  state$unit <- 1
  state
}

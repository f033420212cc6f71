# Pegasos on sparse rows: a step changes only the coefficients of the entries in its rows.
# Counterpart: pegasos_stats/compiled/pegasos.py.
#
# v = lambda * t * beta is the sum of s(m) * y * x over all visits. A projection multiplies
# v by a number, which is stored separately: v = scale * w, beta = unit * w.
#
# The sum of the averaged iterates is pull * w - lag. pull is the sum of the units of the
# averaged steps; lag corrects for entries that were added to w after some of these steps.

# X: sparse_rows().  epochs: a list with the rows of each epoch.  averaged: the epochs whose
# iterates are averaged.  weights: weights of the rows' losses.  from: value of
# first_iterate().  done: function of the fit, called after every epoch; TRUE ends the run.
# offset: fixed part of each row's score.
pegasos_scaled <- function(X, y, lambda, epochs, intercept, loss, batch_size, project,
                           averaged, weights, from, step, done, offset) {
  state <- scaled_state(from, length(y), v = lambda * from$t)
  take <- function(state, batch, average) {
    scaled_step(state, X, y, batch, lambda, intercept, loss, project, average, weights,
                offset)
  }
  scaled_run(state, take, epochs, averaged, batch_size, from, step, done)
}

# The state before the first step. v: the ratio of w to beta. It is 0 before step t = 1,
# which uses the initial beta only for its margins and then replaces it.
scaled_state <- function(from, n, v) {
  w <- if (v > 0) v * from$beta else from$beta
  list(w = w, scale = 1, unit = if (v > 0) 1 / v else 1,
       norm2 = if (v > 0) squares(w) else 0, alpha = from$alpha, t = from$t,
       violations = 0, a = rep(0, n), pull = 0, lag = 0 * w, beta_sum = 0 * w,
       alpha_sum = 0, iterates = 0)
}

# Run all steps; take(state, batch, average) performs one.
scaled_run <- function(state, take, epochs, averaged, batch_size, from, step, done) {
  for (epoch in seq_along(epochs)) {
    average <- epoch %in% averaged
    for (portion in portions(epochs[[epoch]], length(state$a), batch_size)) {
      for (batch in batches(portion, batch_size)) state <- take(state, batch, average)
      state <- settled(state)
    }
    fit <- scaled_fit(state, from, step, epoch)
    if (done(fit)) break
  }
  fit
}

scaled_fit <- function(state, from, step, epoch) {
  beta <- state$unit * state$w
  alpha <- state$alpha
  last <- list(beta = beta, alpha = alpha)
  if (state$iterates > 0) {
    beta <- state$beta_sum / state$iterates
    alpha <- state$alpha_sum / state$iterates
  }
  taken <- state$t - from$t
  list(beta = beta, alpha = alpha, violations = state$violations, n_iter = taken,
       n_epochs = epoch, a = dual_weights(state$a, step, taken), last = last)
}

# Split an epoch into portions of whole batches, of about n rows each.
portions <- function(rows, n, batch_size) {
  if (length(rows) <= max(n, batch_size)) return(list(rows))
  batches(rows, max(n %/% batch_size, 1) * batch_size)
}

scaled_step <- function(state, X, y, batch, lambda, intercept, loss, project, average,
                        weights, offset) {
  seen <- batch_seen(state, X, y, batch, loss, weights, offset)
  if (state$t == 0) state$w <- 0 * state$w
  state$violations <- state$violations + seen$violations
  state$t <- state$t + 1
  h <- 0
  for (k in which(seen$slopes != 0)) {
    i <- batch[k]
    h <- h + seen$slopes[k] * y[i]
    share <- seen$slopes[k] / length(batch)
    state$a[i] <- state$a[i] + share
    state <- row_added(state, X$rows[[i]], share * y[i] / state$scale, project, average)
  }
  if (intercept) {
    state$alpha <- state$alpha + 1 / (lambda * state$t) * (h / length(batch))
  }
  state$unit <- state$scale / (lambda * state$t)
  if (project) state <- projected(state, lambda)
  if (average) state <- iterate_counted(state)
  least <- if (average) 2^-10 else 2^-200
  if (state$scale < least) scale_absorbed(settled(state), lambda) else state
}

# For the rows of a batch, all at the same beta and alpha: s, minus the derivative of the
# loss times the weight of the row, and the number of violated margins.
batch_seen <- function(state, X, y, batch, loss, weights, offset) {
  margins <- c()
  for (i in batch) {
    score <- state$unit * row_dot(X$rows[[i]], state$w) + (state$alpha + offset[i])
    margins <- c(margins, y[i] * score)
  }
  wrong <- sapply(margins, violated, loss = loss)
  list(slopes = weights[batch] * sapply(margins, slope, loss = loss),
       violations = length(which(wrong)))
}

# Add d * x to w, and update norm2 = ||w||^2 and lag.
row_added <- function(state, x, d, project, average) {
  if (project) {
    change <- 2 * row_dot(x, state$w) + d * row_norm2(x)
    state$norm2 <- state$norm2 + d * change
  }
  if (average) state$lag <- row_add(x, state$pull * d, state$lag)
  state$w <- row_add(x, d, state$w)
  state
}

# Project beta onto the ball of radius 1 / sqrt(lambda).
projected <- function(state, lambda) {
  if (state$norm2 <= 0) return(state)
  f <- projection(state$unit * sqrt(state$norm2), lambda)
  state$scale <- f * state$scale
  state$unit <- state$scale / (lambda * state$t)
  state$a <- f * state$a
  state
}

iterate_counted <- function(state) {
  state$pull <- state$pull + state$unit
  state$alpha_sum <- state$alpha_sum + state$alpha
  state$iterates <- state$iterates + 1
  state
}

# Update the sum of the averaged iterates.
settled <- function(state) {
  state$beta_sum <- state$beta_sum + (state$pull * state$w - state$lag)
  state$pull <- 0
  state$lag <- 0 * state$lag
  state
}

# Multiply w by the scale, before the scale becomes too small.
scale_absorbed <- function(state, lambda) {
  state$norm2 <- state$norm2 * (state$scale * state$scale)
  state$w <- state$scale * state$w
  state$scale <- 1
  state$unit <- 1 / (lambda * state$t)
  state
}

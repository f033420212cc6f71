# Pegasos on dense rows, with the operations as written in the paper.
# Counterpart: pegasos_stats/compiled/pegasos.py.

# epochs: a list with the rows of each epoch.  averaged: the epochs whose iterates are
# averaged.  weights: weights of the rows' losses.  from: value of first_iterate().  step:
# see step_size().  done: function of the fit, called after every epoch; TRUE ends the run.
# offset: fixed part of each row's score.
pegasos_literal <- function(X, y, lambda, epochs, intercept, loss, batch_size, project,
                            averaged, weights, from, step, done, offset) {
  beta <- from$beta
  alpha <- from$alpha
  t <- from$t
  violations <- 0
  a <- rep(0, nrow(X))
  mean <- list(beta = 0 * beta, alpha = 0, iterates = 0)
  fit <- function(epoch) {
    last <- list(beta = beta, alpha = alpha)
    if (mean$iterates > 0) {
      beta <- mean$beta / mean$iterates
      alpha <- mean$alpha / mean$iterates
    }
    list(beta = beta, alpha = alpha, violations = violations, n_iter = t - from$t,
         n_epochs = epoch, a = dual_weights(a, step, t - from$t), last = last)
  }
  for (epoch in seq_along(epochs)) {
    for (batch in batches(epochs[[epoch]], batch_size)) {
      t <- t + 1
      eta <- step_size(step, t, t - from$t, lambda, nrow(X))
      found <- batch_gradient(X, y, batch, beta, alpha, loss, weights, offset)
      beta <- beta - eta * (lambda * beta - found$g / length(batch))
      if (intercept) alpha <- alpha + eta * (found$h / length(batch))
      violations <- violations + found$violations
      share <- dual_share(step, eta, lambda)
      a <- share$kept * a
      for (k in seq_along(batch)) {
        a[batch[k]] <- a[batch[k]] + share$added * found$slopes[k] / length(batch)
      }
      if (project) {
        f <- projection(euclidean(beta), lambda)
        beta <- f * beta
        a <- f * a
      }
      if (epoch %in% averaged) {
        mean$beta <- mean$beta + beta
        mean$alpha <- mean$alpha + alpha
        mean$iterates <- mean$iterates + 1
      }
    }
    if (done(fit(epoch))) break
  }
  fit(epoch)
}

# Sums over the rows of a batch, all at the same beta and alpha: g, the sum of s * y * x, and
# h, the sum of s * y. s is minus the derivative of the loss times the weight of the row.
batch_gradient <- function(X, y, batch, beta, alpha, loss, weights, offset) {
  g <- rep(0, length(beta))
  h <- 0
  slopes <- c()
  violations <- 0
  for (i in batch) {
    x <- X[i, ]
    m <- y[i] * (drop(x %*% beta) + (alpha + offset[i]))
    s <- weights[i] * slope(loss, m)
    g <- g + s * y[i] * x
    h <- h + s * y[i]
    slopes <- c(slopes, s)
    if (violated(loss, m)) violations <- violations + 1
  }
  list(g = g, h = h, slopes = slopes, violations = violations)
}

# min(1, (1 / sqrt(lambda)) / ||beta||)
projection <- function(length_of_beta, lambda) {
  limit <- 1 / sqrt(lambda)
  if (length_of_beta <= limit) 1 else limit / length_of_beta
}

# ||beta||, with the squares summed from first to last.
euclidean <- function(beta) {
  sqrt(squares(beta))
}

# ||beta||^2, summed from first to last.
squares <- function(beta) {
  total <- 0
  for (b in beta) total <- total + b * b
  total
}

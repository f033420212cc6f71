# Pegasos on dense rows, every operation as it is written in the paper.
# Beside it stands pegasos_stats/compiled/pegasos/pegasos_literal.py.

# epochs: a list of rows.  averaged: the epochs whose iterates are averaged.
# weights: of each row's loss.
pegasos_literal <- function(X, y, lambda, epochs, intercept, loss, batch_size, project,
                            averaged, weights) {
  beta <- rep(0, ncol(X))
  alpha <- 0
  t <- 0
  violations <- 0
  a <- rep(0, nrow(X))
  mean <- list(beta = beta, alpha = alpha, iterates = 0)
  for (epoch in seq_along(epochs)) {
    for (batch in batches(epochs[[epoch]], batch_size)) {
      t <- t + 1
      eta <- 1 / (lambda * t)
      step <- batch_gradient(X, y, batch, beta, alpha, loss, weights)
      beta <- beta - eta * (lambda * beta - step$g / length(batch))
      if (intercept) alpha <- alpha + eta * (step$h / length(batch))
      violations <- violations + step$violations
      for (k in seq_along(batch)) {
        a[batch[k]] <- a[batch[k]] + step$slopes[k] / length(batch)
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
  }
  last <- list(beta = beta, alpha = alpha)
  if (mean$iterates > 0) {
    beta <- mean$beta / mean$iterates
    alpha <- mean$alpha / mean$iterates
  }
  list(beta = beta, alpha = alpha, violations = violations, n_iter = t,
       a = a * nrow(X) / t, last = last)
}

# Sums over the rows of a batch, all at the same beta and alpha: g of s * y * x, and h
# of s * y; s is the slope times the weight of the row.
batch_gradient <- function(X, y, batch, beta, alpha, loss, weights) {
  g <- rep(0, length(beta))
  h <- 0
  slopes <- c()
  violations <- 0
  for (i in batch) {
    x <- X[i, ]
    m <- y[i] * (drop(x %*% beta) + alpha)
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

# ||beta||, the squares summed from first to last.
euclidean <- function(beta) {
  total <- 0
  for (b in beta) total <- total + b * b
  sqrt(total)
}

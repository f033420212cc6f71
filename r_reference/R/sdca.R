# SDCA: stochastic dual coordinate ascent, without intercept.
# Counterparts: pegasos_stats/compiled/sdca.py, solvers/sdca.py and
# solvers/optimum_run.py.
#
# Shalev-Shwartz & Zhang, JMLR 14 (2013): figure 1 (SDCA-perm), figure 2 (modified SGD)
# and section 6.2 for the steps. A dual weight is between 0 and the weight of its row; for
# the squared hinge it has no upper bound.

# X: matrix, n x p, or sparse_rows().  y: n numbers, -1 or +1.  The caller sets the seed.
# start: "zero", or "sgd" for a first epoch of modified SGD.  weights: weights of the rows'
# losses, with mean 1.  offset: fixed part of each row's score.  average: "none", "all", or a
# number of last epochs over which the mean is taken (averaging option).  random_stop: NULL,
# or a number of last epochs; the run stops after a random step in them (random option).
# Value: beta, a (beta is the sum of a * y * x over the rows, divided by lambda * n),
# violations (visits with a margin below 1; log loss: below 0), rows (the visited rows, in
# order), n_epochs.
sdca <- function(X, y, lambda, epochs = 1, loss = "hinge", start = "zero",
                 weights = rep(1, length(y)), offset = rep(0, length(y)),
                 average = "none", random_stop = NULL) {
  rows <- if (is.matrix(X)) lapply(seq_along(y), function(i) dense_row(X[i, ])) else X$rows
  p <- if (is.matrix(X)) ncol(X) else X$p
  n <- length(y)
  state <- list(beta = rep(0, p), a = rep(0, n), violations = 0, rows = c(), n_epochs = 0)
  last <- last_step(n, epochs, random_stop)
  averaged <- setdiff(averaged_epochs(average, epochs), if (start == "sgd") 1)
  total <- rep(0, n)
  for (epoch in 1:ceiling(last / n)) {
    visited <- sample(1:n, n)[seq_len(min(n, last - (epoch - 1) * n))]
    before <- state$a
    pass <- if (start == "sgd" && epoch == 1) sgd_epoch else sdca_epoch
    state <- pass(state, rows, y, visited, lambda, loss, weights, offset)
    state$rows <- c(state$rows, visited)
    state$n_epochs <- epoch
    if (epoch %in% averaged) total <- total + before_each_step(visited, before, state$a)
  }
  if (length(averaged) == 0) return(state)
  mean_iterate(state, rows, y, lambda, total / (n * length(averaged)),
               if (loss == "squared_hinge") Inf else weights)
}

# The number of the last step: all steps, or a random step of the last epochs.
last_step <- function(n, epochs, random_stop) {
  if (is.null(random_stop)) return(epochs * n)
  (epochs - random_stop) * n + sample(random_stop * n, 1)
}

# The sum of the dual weights before each step of an epoch. The row of the k-th visit
# contributes its former weight k times and its new weight n - k times.
before_each_step <- function(visited, before, after) {
  k <- order(visited)
  k * before + (length(visited) - k) * after
}

# The mean of the dual weights, and the beta that it defines.
mean_iterate <- function(state, rows, y, lambda, a, most) {
  state$a <- pmin(a, most)
  beta <- 0 * state$beta
  for (i in seq_along(y)) beta <- row_add(rows[[i]], state$a[i] * y[i], beta)
  state$beta <- beta / (lambda * length(y))
  state
}

# A row of a matrix as a row of sparse_rows().
dense_row <- function(x) {
  list(columns = seq_along(x), values = unname(x))
}

sdca_epoch <- function(state, rows, y, visited, lambda, loss, weights, offset) {
  n <- length(y)
  for (i in visited) {
    x <- rows[[i]]
    m <- y[i] * (row_dot(x, state$beta) + offset[i])
    a_new <- dual_step(loss, state$a[i], m, lambda * n, row_norm2(x), weights[i])
    state$beta <- row_add(x, (a_new - state$a[i]) * y[i] / (lambda * n), state$beta)
    state$a[i] <- a_new
    if (violated(loss, m)) state$violations <- state$violations + 1
  }
  state
}

# v = lambda * t * beta is the sum of a * y * x over the steps so far.
sgd_epoch <- function(state, rows, y, visited, lambda, loss, weights, offset) {
  v <- state$beta
  unit <- 0
  for (t in seq_along(visited)) {
    i <- visited[t]
    x <- rows[[i]]
    m <- y[i] * (unit * row_dot(x, v) + offset[i])
    state$a[i] <- dual_step(loss, 0, m, lambda * t, row_norm2(x), weights[i])
    v <- row_add(x, state$a[i] * y[i], v)
    unit <- 1 / (lambda * t)
    if (violated(loss, m)) state$violations <- state$violations + 1
  }
  state$beta <- v / (lambda * length(y))
  state
}

# The optimal value of one dual weight.  scale: lambda * n, or lambda * t.  w: weight of
# the row.
dual_step <- function(loss, a, m, scale, norm2, w) {
  if (loss == "log") return(log_step(a, m, norm2 / scale, w))
  if (loss == "squared_hinge") {
    return(max(0, a + (2 * w * (1 - m) - a) / (1 + 2 * w * norm2 / scale)))
  }
  if (norm2 == 0) return(w)
  min(w, max(0, a + scale * (1 - m) / norm2))
}

# The root a_new of log(w / a_new - 1) = m + (a_new - a) * q. With a_new = w / (1 + exp(z)),
# the difference z - m - (a_new - a) * q increases with z. Newton's method finds its root; a
# step that leaves the bracket, or exceeds half the previous step, is replaced by a
# bisection.
log_step <- function(a, m, q, w) {
  low <- m - a * q
  high <- m + (w - a) * q
  z <- m
  moved <- high - low
  for (step in 1:100) {
    e <- exp(-abs(z))
    s <- 1 / (1 + e)
    excess <- z - m - (w * slope("log", z) - a) * q
    if (excess < 0) low <- z else high <- z
    new <- z - excess / (1 + q * w * (e * s * s))
    if (new < low || new > high || abs(new - z) > moved / 2) new <- (low + high) / 2
    moved <- abs(new - z)
    done <- moved <= 1e-8 * (1 + abs(z))
    z <- new
    if (done) break
  }
  w * slope("log", z)
}

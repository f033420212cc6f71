# The certified optimum for dense rows, with an unpenalised intercept or none. Counterparts:
# pegasos_stats/solvers/optimum.py, which computes the same optimum by other methods,
# certificate.py and intercept.py.
#
# Log loss and squared hinge: Newton's method. Hinge: the interior-point method of Ferris &
# Munson, SIAM Journal on Optimization 13 (2002), with the steps of Mehrotra, ibid. 2 (1992).

# Value: beta, alpha, a (dual weights), n_iter, gap and objective. The gap is at most
# tol * objective, unless 100 steps or rounding errors ended the run earlier.
optimum <- function(X, y, lambda, loss = "hinge", intercept = TRUE,
                    weights = rep(1, length(y)), offset = rep(0, length(y)),
                    tol = 1e-6) {
  kept <- weights > 0
  w <- weights[kept]
  sign <- y[kept]
  rows <- X[kept, , drop = FALSE]
  centre <- if (intercept) colMeans(rows) else rep(0, ncol(X))
  rows <- sweep(rows, 2, centre)
  # With more columns than rows, beta is in the span of the rows.
  basis <- if (ncol(rows) > nrow(rows)) qr.Q(qr(t(rows)))
  if (!is.null(basis)) rows <- rows %*% basis
  problem <- list(Z = sign * cbind(if (intercept) 1, rows), y = sign, w = w, n = length(y),
                  known = sign * offset[kept], loss = loss, lambda = lambda,
                  intercept = intercept,
                  ridge = lambda * length(y) * c(if (intercept) 0, rep(1, ncol(rows))))
  at <- if (loss == "hinge") interior_start(problem) else newton_start(problem)
  step <- if (loss == "hinge") interior_step else newton_step
  best <- list(gap = Inf)
  for (count in 0:100) {
    at <- duality_gap(at, problem)
    if (isTRUE(at$gap < best$gap)) best <- at
    if (best$gap <= tol * best$objective || is.na(at$gap)) break
    at <- tryCatch(step(at, problem), error = function(failed) NULL)
    if (is.null(at) || anyNA(at$a)) break  # H is numerically singular
  }
  beta <- if (intercept) best$theta[-1] else best$theta
  if (!is.null(basis)) beta <- drop(basis %*% beta)
  alpha <- 0
  if (intercept) {
    alpha <- unname(best_intercept(scores(X, beta, 0) + offset, y, loss, weights))
  }
  a <- rep(0, length(y))
  a[kept] <- best$a
  list(beta = unname(beta), alpha = alpha, a = a, n_iter = count, gap = best$gap,
       objective = best$objective)
}

# The gap of certificate(), computed with vectors instead of loops.
duality_gap <- function(at, problem) {
  with(problem, {
    margins <- drop(Z %*% at$theta) + known
    losses <- losses_of(loss, margins)
    at$objective <- (sum(ridge * at$theta^2) / 2 + sum(w * losses)) / n
    a <- feasible(at$a, y, intercept, if (loss == "squared_hinge") Inf * w else w)
    rewards <- switch(loss, hinge = a, squared_hinge = a - a^2 / (4 * w),
                      log = w * binary_entropy(a / w))
    image <- crossprod(Z, a)[ridge > 0]
    dual <- (sum(rewards) - sum(a * known) - sum(image^2) / (2 * lambda * n)) / n
    at$gap <- at$objective - max(0, dual)
    at
  })
}

losses_of <- function(loss, margins) {
  switch(loss, hinge = pmax(0, 1 - margins), squared_hinge = pmax(0, 1 - margins)^2,
         log = log_losses(margins))
}

log_losses <- function(margins) log1p(exp(-abs(margins))) - pmin(margins, 0)

binary_entropy <- function(t) {
  ifelse(t <= 0 | t >= 1, 0, -t * log(t) - (1 - t) * log1p(-t))
}

# Solve H d = g, after scaling the diagonal of H to 1.
solved <- function(H, g) {
  scale <- 1 / sqrt(diag(H))
  drop(scale * solve(H * outer(scale, scale), scale * g, tol = 0))
}

# The coefficients, and dual weights: w / (1 + exp(m)) for the log loss, 2 w max(0, 1 - m)
# for the squared hinge.
newton_start <- function(problem) {
  theta <- rep(0, length(problem$ridge))
  constant <- best_intercept(0 * problem$y, problem$y, problem$loss, problem$w)
  if (problem$intercept) theta[1] <- constant
  newton_at(theta, problem)
}

newton_at <- function(theta, problem) {
  margins <- drop(problem$Z %*% theta) + problem$known
  losses <- losses_of(problem$loss, margins)
  slopes <- if (problem$loss == "log") plogis(-margins) else 2 * pmax(0, 1 - margins)
  list(theta = theta, a = problem$w * slopes,
       risk = sum(problem$ridge * theta^2) / 2 + sum(problem$w * losses))
}

# A Newton step, halved until it lowers the risk by 1e-4 of the linear prediction.
newton_step <- function(at, problem) {
  curvature <- switch(problem$loss, log = at$a * (1 - at$a / problem$w),
                      squared_hinge = 2 * problem$w * (at$a > 0))
  H <- crossprod(problem$Z * sqrt(curvature)) + diag(problem$ridge, length(problem$ridge))
  gradient <- problem$ridge * at$theta - drop(crossprod(problem$Z, at$a))
  d <- -solved(H, gradient)
  share <- 1
  repeat {
    new <- newton_at(at$theta + share * d, problem)
    enough <- at$risk + 1e-4 * share * sum(gradient * d) + 1e-14 * at$risk
    if (isTRUE(new$risk <= enough) || share < 1e-8) return(new)
    share <- share / 2
  }
}

# Hinge: minimise lambda n / 2 ||beta||^2 + sum w xi where m - 1 + xi = s; xi, s >= 0.
# a and u = w - a are the multipliers of s and xi, and a s = u xi = 0 at the optimum.
interior_start <- function(problem) {
  with(problem, {
    b <- 1 - known
    xi <- pmax(b, 0) + 1
    share <- rep(0.5, length(w))
    if (intercept) {
      sums <- ifelse(y > 0, sum(w[y > 0]), sum(w[y < 0]))
      share <- min(sums) / sums / 2
    }
    list(theta = rep(0, length(ridge)), a = share * w, u = w - share * w, xi = xi,
         s = xi - b)
  })
}

# Newton's step for a s = u xi = mu, with mu by Mehrotra's predictor. Its length is 0.995 of
# the length at which one of a, u, xi and s becomes 0.
interior_step <- function(at, problem) {
  Z <- problem$Z
  from <- at[c("a", "u", "xi", "s")]
  q <- 1 / (from$xi / from$u + from$s / from$a)
  H <- crossprod(Z * sqrt(q)) + diag(problem$ridge, length(problem$ridge))
  open_dual <- drop(crossprod(Z, from$a)) - problem$ridge * at$theta
  open <- 1 - problem$known - drop(Z %*% at$theta) - from$xi + from$s
  move <- function(as, uxi) {
    e <- open - uxi / from$u + as / from$a
    theta <- solved(H, open_dual + drop(crossprod(Z, q * e)))
    a <- q * (e - drop(Z %*% theta))
    list(theta = theta, a = a, u = -a, xi = (uxi + from$xi * a) / from$u,
         s = (as - from$s * a) / from$a)
  }
  longest <- function(d) {
    shares <- mapply(function(v, dv) min(1, (-v / dv)[dv < 0]), from, d[names(from)])
    min(shares)
  }
  mu <- function(v) mean(v$a * v$s + v$u * v$xi) / 2
  moved <- function(v, d, share) Map(function(v, dv) v + share * dv, v, d[names(v)])
  d <- move(-from$a * from$s, -from$u * from$xi)
  goal <- mu(moved(from, d, longest(d)))^3 / mu(from)^2
  d <- move(goal - from$a * from$s - d$a * d$s, goal - from$u * from$xi - d$u * d$xi)
  moved(at[c("theta", names(from))], d, 0.995 * longest(d))
}

# Rows that can be predicted with certainty, and the coefficients that hang on them: only
# a penalty keeps these finite. Beside it stands pegasos_stats/solvers/separation.py, which
# solves linear programmes.
#
# Albert & Anderson, Biometrika 71 (1984); Lawson & Hanson, Solving least squares problems
# (1974), chapter 23.

# Let A have the rows y_i z_i. Either some a > 0 has A'a = 0, and an estimate exists where
# the columns of A are independent, or some direction b has A b >= 0 and not 0: it
# separates the rows where A b > 0 (Stiemke). The least squares of A'(1 + c) over c >= 0
# find one of them: their residual is 0, or it is b. The first is proved: a projection of
# 1 + c that meets A'a = 0 is positive. Value: proof (a) or direction (b); neither where
# rounding decides.
overlap <- function(problem) {
  A <- problem$y * problem$Z
  lengths <- sqrt(rowSums(A^2))
  decomposed <- qr(A, tol = 1e-9)
  basis <- decomposed$pivot[seq_len(decomposed$rank)]
  inverse <- chol2inv(qr.R(decomposed)[seq_along(basis), seq_along(basis), drop = FALSE])
  c <- rep(0, nrow(A))
  active <- integer()
  for (count in seq_len(10 * ncol(A) + 100)) {
    residual <- drop(crossprod(A, 1 + c))
    correction <- A[, basis, drop = FALSE] %*% (inverse %*% residual[basis])
    if (max(abs(correction)) < 0.5) return(list(proof = drop(1 + c - correction)))
    slope <- drop(A %*% residual) / (lengths * sqrt(sum(residual^2)))
    slope[lengths == 0] <- 0
    if (min(slope) >= -1e-9) return(list(direction = residual))
    new <- setdiff(which(slope == min(slope)), active)
    if (length(new) == 0) break
    active <- c(active, new[1])
    repeat {
      goal <- qr.coef(qr(t(A[active, , drop = FALSE]), tol = 1e-12), -colSums(A))
      if (anyNA(goal)) return(list())
      if (all(goal > 0)) break
      back <- goal <= 0
      share <- min(c[active][back] / (c[active] - goal)[back])
      c[active] <- pmax(c[active] + share * (goal - c[active]), 0)
      leaving <- back & c[active] <= min(c[active][back])
      c[active[leaving]] <- 0
      active <- active[!leaving]
    }
    c[active] <- goal
  }
  list()
}

# Which rows are separated by some direction: those of one, then of another among the rest.
# With complete separation none if less than half of them have a probability above 0.999:
# the penalty then gives every coefficient a value of its own.
separated_rows <- function(object) {
  separated <- all_separated(object)
  certain <- separated & plogis(-object$y * object$scores) < 1e-3
  complete <- sum(separated) == object$nobs
  separated & !(complete && sum(certain) < object$nobs / 2)
}

all_separated <- function(object) {
  Z <- standardized_design(object$X, object$weights, object$intercept)$Z
  rest <- which(object$weights > 0)
  separated <- rep(FALSE, length(object$y))
  while (length(rest) > 0) {
    direction <- overlap(list(Z = Z[rest, , drop = FALSE], y = object$y[rest]))$direction
    if (is.null(direction)) break
    margins <- object$y[rest] * drop(Z[rest, , drop = FALSE] %*% direction)
    raised <- margins > 1e-8 * sqrt(sum(direction^2))
    if (!any(raised)) break
    separated[rest[raised]] <- TRUE
    rest <- rest[!raised]
  }
  separated
}

# The coefficients that some rows determine, and those of a basis for them: columns of
# these rows that are no combination of others.
determined_by <- function(Z) {
  if (nrow(Z) == 0) return(list(basis = integer(), sure = integer()))
  decomposed <- qr(Z, tol = 1e-9)
  basis <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  others <- setdiff(seq_len(ncol(Z)), basis)
  shares <- qr.coef(qr(Z[, basis, drop = FALSE]), Z[, others, drop = FALSE])
  list(basis = basis, sure = basis[rowSums(abs(as.matrix(shares)) > 1e-7) == 0])
}

# Rows that can be predicted with certainty, and the coefficients that depend on them, which
# are finite only with a penalty. Counterpart: pegasos_stats/solvers/separation.py, which
# solves linear programs.
#
# Albert & Anderson, Biometrika 71 (1984); Lawson & Hanson, Solving least squares problems
# (1974), chapter 23.

# Let A have the rows y_i z_i. By Stiemke's theorem, one of two cases holds. Either A'a = 0
# for some a > 0; then the estimate exists if the columns of A are independent. Or some
# direction b satisfies A b >= 0 and A b is not 0; then b separates the rows with positive
# entries of A b. Minimising ||A'(1 + c)|| over c >= 0 decides between the cases: the
# residual is 0, or it is such a b. A residual of 0 is proved by a positive projection of
# 1 + c that satisfies A'a = 0. Value: proof (a) or direction (b); neither if rounding
# errors prevent a decision.
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

# The separated rows of a penalised fit. With complete separation no row counts as
# separated if less than half of the rows have a fitted probability above 0.999: the penalty
# then determines all coefficients.
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

# basis: linearly independent columns of Z that span all columns. sure: the columns of the
# basis that no other column depends on, whose coefficients the rows of Z determine.
determined_by <- function(Z) {
  if (nrow(Z) == 0) return(list(basis = integer(), sure = integer()))
  decomposed <- qr(Z, tol = 1e-9)
  basis <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  others <- setdiff(seq_len(ncol(Z)), basis)
  shares <- qr.coef(qr(Z[, basis, drop = FALSE]), Z[, others, drop = FALSE])
  list(basis = basis, sure = basis[rowSums(abs(as.matrix(shares)) > 1e-7) == 0])
}

# Rows that can be predicted with certainty, and the coefficients that hang on them: only
# the penalty keeps these finite. Beside it stands
# pegasos_stats/models/inference/separation.py, which solves linear programmes.
#
# Albert & Anderson, Biometrika 71 (1984).

# Which rows are separated: as the penalty falls from 1e-9 to 1e-12 their margins rise by
# about log(1000) = 6.9 or more, along a direction that lowers no margin; other rows hardly
# move. None if these are all rows and less than half of them have a probability above
# 0.999: the penalty then gives every coefficient a value of its own.
separated_rows <- function(object) {
  spread <- apply(object$X, 2, sd)
  X <- sweep(object$X, 2, ifelse(spread > 0, spread, 1), "/")
  margins <- function(lam) {
    found <- optimum(X, object$y, lam, "log", object$intercept, object$weights,
                     object$offset, 1e-12)
    object$y * scores(X, found$beta, found$alpha)
  }
  moved <- (margins(1e-12) - margins(1e-9)) * (object$weights > 0)
  found <- moved > 3 & min(moved) > -1
  certain <- found & plogis(-object$y * object$scores) < 1e-3
  complete <- sum(found) == object$nobs
  found & !(complete && sum(certain) < object$nobs / 2)
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

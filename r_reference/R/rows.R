# Sparse rows, and operations on one row. Counterpart: pegasos_stats/compiled/rows.py.

# A list of p and rows; a row is a list of its columns and their values. Entries are stored
# where `stored` is TRUE, even if they are zero.
sparse_rows <- function(X, stored = X != 0) {
  row <- function(i) {
    columns <- which(stored[i, ])
    list(columns = columns, values = unname(X[i, columns]))
  }
  list(p = ncol(X), rows = lapply(seq_len(nrow(X)), row))
}

# Sparse rows from a matrix in compressed row format: row i has the entries ends[i] + 1 to
# ends[i + 1].
compressed_rows <- function(p, ends, columns, values) {
  row <- function(i) {
    k <- ends[i] + seq_len(ends[i + 1] - ends[i])
    list(columns = columns[k], values = values[k])
  }
  list(p = p, rows = lapply(seq_len(length(ends) - 1), row))
}

# Select rows, dense or sparse.
of_rows <- function(X, kept) {
  if (is.matrix(X)) X[kept, , drop = FALSE] else list(p = X$p, rows = X$rows[kept])
}

# x'w, from the first stored entry to the last.
row_dot <- function(x, w) {
  total <- 0
  for (k in seq_along(x$columns)) {
    total <- total + x$values[k] * w[x$columns[k]]
  }
  total
}

# ||x||^2, from the first stored entry to the last.
row_norm2 <- function(x) {
  total <- 0
  for (value in x$values) {
    total <- total + value * value
  }
  total
}

# w + d * x
row_add <- function(x, d, w) {
  for (k in seq_along(x$columns)) {
    j <- x$columns[k]
    w[j] <- w[j] + d * x$values[k]
  }
  w
}

# X beta + alpha; each score is summed from the first entry to the last.
scores <- function(X, beta, alpha) {
  if (is.matrix(X)) return(drop(X %*% beta) + alpha)
  sapply(X$rows, row_dot, beta) + alpha
}

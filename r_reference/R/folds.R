# Folds of cross-validation, stratified by the levels of the outcome.
# Beside it stands pegasos_stats/studies/folds.py.

# The rows of every level, levels in their order, are shuffled and dealt to the folds like
# cards: 1, 2, ..., k, 1, 2, ...; the next level goes on where the last one ended. So any
# two folds differ by at most one row, in all and in each level.
# y: labels, or a factor.  Value: the fold, 1 to k, that tests each row.
stratified_folds <- function(y, k) {
  folds <- numeric(length(y))
  dealt <- 0
  for (rows in split(seq_along(y), y)) {
    shuffled <- rows[sample.int(length(rows))]
    folds[shuffled] <- (dealt + seq_along(rows) - 1) %% k + 1
    dealt <- dealt + length(rows)
  }
  folds
}

# Folds of whole groups.  Groups are shuffled and taken from the largest to the smallest;
# each goes to the fold where the squared shares of the levels grow least, of several to
# the one with the fewest rows, and of these to the first.
# y: labels, or a factor.  groups: the group of each row.
# Value: the fold, 1 to k, that tests each row, the same for all rows of a group.
grouped_folds <- function(y, groups, k) {
  groups <- match(groups, unique(groups))
  sizes <- unclass(table(groups, y))
  total <- colSums(sizes)
  counts <- matrix(0, k, ncol(sizes))
  place <- numeric(nrow(sizes))
  shuffled <- sample.int(nrow(sizes))
  for (group in shuffled[order(-rowSums(sizes)[shuffled])]) {
    load <- numeric(k)
    for (level in which(total > 0)) {
      load <- load + counts[, level] / total[level] * (sizes[group, level] / total[level])
    }
    best <- which(load == min(load))
    fold <- best[which.min(rowSums(counts[best, , drop = FALSE]))]
    counts[fold, ] <- counts[fold, ] + sizes[group, ]
    place[group] <- fold
  }
  place[groups]
}

# A matrix with one line for each repeat, drawn one after the other.
repeated_folds <- function(y, k, repeats, groups = NULL) {
  drawn <- function(again) {
    if (is.null(groups)) stratified_folds(y, k) else grouped_folds(y, groups, k)
  }
  t(vapply(1:repeats, drawn, numeric(length(y))))
}

# A seed for each fit, drawn after the folds.
fit_seeds <- function(count) {
  sample.int(.Machine$integer.max, count)
}

# Folds of cross-validation, stratified by the classes of the outcome.
# Counterpart: pegasos_stats/studies/folds.py.

# Class by class, the rows are shuffled and assigned to the folds 1, 2, ..., k, 1, 2, ...;
# the next class continues where the last one ended. So any two folds differ by at most one
# row, in total and in each class.
# y: labels, or a factor.  Value: for each row, the fold, 1 to k, that tests it.
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

# Folds that do not split groups.  Groups are shuffled and then processed from the largest
# to the smallest. Each is assigned to the fold in which the sum of squared class shares
# increases least; among several such folds, to the fold with the fewest rows, and then to
# the first.
# y: labels, or a factor.  groups: the group of each row.
# Value: for each row, the fold, 1 to k, that tests it; the same for all rows of a group.
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

# A matrix with one row per repeat, drawn one after the other.
repeated_folds <- function(y, k, repeats, groups = NULL) {
  drawn <- function(again) {
    if (is.null(groups)) stratified_folds(y, k) else grouped_folds(y, groups, k)
  }
  t(vapply(1:repeats, drawn, numeric(length(y))))
}

# Seeds of the fits, drawn after the folds.
fit_seeds <- function(count) {
  sample.int(.Machine$integer.max, count)
}

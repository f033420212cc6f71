# Order of the visited rows. Counterpart: pegasos_stats/solvers/pegasos.py.

# A list with the rows of each epoch. order: "shuffle", "sequential", "replace" or "subset"
# (`steps` draws of batch_size rows, with or without replacement; an epoch is then about n
# rows), or row numbers from 1: one vector for all epochs, or a matrix with one row per
# epoch.
epochs_of_rows <- function(n, epochs, order = "shuffle", steps = NULL, batch_size = 1) {
  if (is.matrix(order)) return(rep(apply(order, 1, identity, simplify = FALSE), epochs))
  if (is.numeric(order)) return(rep(list(order), epochs))
  switch(order,
    shuffle = lapply(1:epochs, function(epoch) sample(1:n, n)),
    sequential = rep(list(1:n), epochs),
    replace = , subset = batches(drawn_rows(n, steps, batch_size, order),
                                 max(1, n %/% batch_size) * batch_size))
}

# Subsets are sorted, so that sums over their rows do not depend on the order of the draws.
drawn_rows <- function(n, steps, batch_size, order) {
  draw <- switch(order,
    replace = function(step) sample(n, batch_size, replace = TRUE),
    subset = function(step) sort(sample(n, batch_size)))
  unlist(lapply(1:steps, draw))
}

# Consecutive batches of `size` rows; the last one may be smaller.
batches <- function(rows, size) {
  unname(split(rows, (seq_along(rows) - 1) %/% size))
}

# The epochs that are averaged. average: "none", "all", or a number of last epochs.
averaged_epochs <- function(average, epochs) {
  if (average == "none") return(c())
  if (average == "all") return(1:epochs)
  (epochs - average + 1):epochs
}

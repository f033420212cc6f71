# Write golden/folds.json and group_folds.json: Rscript --vanilla r_reference/golden_folds.R
# Folds by R/folds.R, in the order of the rows, and the seeds that are drawn after them.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
for (file in c("rng.R", "folds.R")) source(file.path(here, "R", file))
options(warn = 2)

array <- function(items) paste0("[", paste(items, collapse = ", "), "]")

# `low` rows of the first class and `high` rows of the second, in a mixed order.
case <- function(low, high, k, repeats, seed, kind = "Rejection") {
  n <- low + high
  y <- rep(0, n)
  y[(seq_len(high) * 7) %% n + 1] <- 1
  seed_generator(seed, kind)
  folds <- repeated_folds(y, k, repeats)
  seeds <- fit_seeds(k * repeats)
  sprintf("{\"y\": %s, \"k\": %d, \"seed\": %d, \"kind\": \"%s\", \"folds\": %s, \"seeds\": %s}",
          array(y), k, seed, tolower(kind), array(apply(folds, 1, array)), array(seeds))
}

cases <- c(case(15, 15, 5, 1, 443), case(30, 7, 10, 2, 1), case(3, 2, 2, 3, 42),
           case(40, 1, 4, 1, 7), case(6, 5, 11, 1, 3),
           case(20, 13, 3, 2, 443, "Rounding"))
# Folds with groups; the group number is a power of the row number, modulo a number.
grouped <- function(low, high, k, repeats, seed, number, kind = "Rejection") {
  n <- low + high
  y <- rep(0, n)
  y[(seq_len(high) * 7) %% n + 1] <- 1
  groups <- (seq_len(n)^2 * 5 + seq_len(n)) %% number
  seed_generator(seed, kind)
  folds <- repeated_folds(y, k, repeats, groups)
  sprintf("{\"y\": %s, \"groups\": %s, \"k\": %d, \"seed\": %d, \"kind\": \"%s\", \"folds\": %s}",
          array(y), array(groups), k, seed, tolower(kind), array(apply(folds, 1, array)))
}

by_group <- c(grouped(30, 30, 5, 1, 443, 23), grouped(60, 11, 4, 2, 1, 17),
              grouped(12, 9, 2, 3, 42, 5), grouped(40, 1, 3, 1, 7, 41),
              grouped(20, 13, 3, 2, 443, 11, "Rounding"))
writeLines(paste0("[", paste(by_group, collapse = ",\n"), "]"),
           file.path(here, "golden", "group_folds.json"))
writeLines(paste0("[", paste(cases, collapse = ",\n"), "]"),
           file.path(here, "golden", "folds.json"))

# The generator. Beside it stands pegasos_stats/rng.py.

# set.seed() keeps the kind that an earlier RNGkind() chose, so all are set here. R warns
# of the kind "Rounding"; R before 3.6 knows it alone, and no name of it.
seed_generator <- function(seed, sample_kind = "Rejection") {
  kinds <- list("Mersenne-Twister", "Inversion")
  if (getRversion() >= "3.6.0") kinds <- c(kinds, sample_kind)
  suppressWarnings(do.call(RNGkind, kinds))
  set.seed(seed)
}

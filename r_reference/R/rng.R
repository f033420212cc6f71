# The random number generator. Counterpart: pegasos_stats/rng.py.

# Set all kinds and the seed: set.seed() alone keeps the kinds of an earlier RNGkind(). R
# warns about the kind "Rounding"; R before 3.6 always uses it and has no name for it.
seed_generator <- function(seed, sample_kind = "Rejection") {
  kinds <- list("Mersenne-Twister", "Inversion")
  if (getRversion() >= "3.6.0") kinds <- c(kinds, sample_kind)
  suppressWarnings(do.call(RNGkind, kinds))
  set.seed(seed)
}

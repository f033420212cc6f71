# The generator. Beside it stands pegasos_stats/rng/generator.py.

# set.seed() keeps the kind that an earlier RNGkind() chose, so both are set here.
# R warns of the kind "Rounding".
seed_generator <- function(seed, sample_kind = "Rejection") {
  suppressWarnings(RNGkind("Mersenne-Twister", "Inversion", sample_kind))
  set.seed(seed)
}

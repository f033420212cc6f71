# The function that is minimised. Beside it stands pegasos_stats/objective.py.

# lambda / 2 * ||beta||^2 + mean(hinge). The sums are loops because sum() and mean()
# accumulate in long double.
primal <- function(X, y, beta, alpha, lambda) {
  margins <- y * scores(X, beta, alpha)
  loss <- 0
  for (m in margins) loss <- loss + max(0, 1 - m)
  norm2 <- 0
  for (b in beta) norm2 <- norm2 + b * b
  lambda / 2 * norm2 + loss / nrow(X)
}

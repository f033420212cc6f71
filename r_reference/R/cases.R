# The cases that R and Python share, listed in r_reference/cases.csv. Beside it stands
# tests/parity/cases.py.

read_cases <- function(path) {
  cases <- read.csv(path, colClasses = c(name = "character", lambda = "character"))
  cases$lambda <- as.numeric(cases$lambda)
  split(cases, factor(cases$name, cases$name))
}

# A list of X (matrix, n x p, named columns) and labels.
case_data <- function(case) {
  measured <- c("wt", "hp", "qsec")
  switch(case$data,
    "iris 51:150" = iris_data(51:150),
    "iris 1:100" = iris_data(1:100),
    "mtcars" = list(X = as.matrix(mtcars[measured]), labels = mtcars$am),
    "mtcars scaled" = list(X = scale(mtcars[measured]), labels = mtcars$am),
    drawn_data(case))
}

iris_data <- function(rows) {
  list(X = as.matrix(iris[rows, 1:4]), labels = as.character(iris$Species[rows]))
}

# Normal numbers, changed as the case says. The first label is "b", so that codings
# "factor" and "first-seen" differ.
drawn_data <- function(case) {
  n <- case$n
  p <- case$p
  seed_generator(case$data_seed)
  X <- matrix(rnorm(n * p), n, p, dimnames = list(NULL, paste0("x", 1:p)))
  labels <- ifelse(X[, 1] + rnorm(n) > 0, "b", "a")
  labels[n] <- "a"
  labels[1] <- "b"
  X <- switch(case$data,
    "normal" = , "one row" = X,
    "duplicated rows" = X[rep(1:(n / 2), 2), ],
    "zero row" = { X[3, ] <- 0; X },
    "constant column" = { X[, p] <- 2.5; X },
    "whole numbers" = floor(2 * X),
    "wide range" = sweep(X, 2, 10^(2 * (1:p) - 7), "*"))
  list(X = X, labels = labels)
}

case_coding <- function(case) {
  strsplit(case$coding, "/", fixed = TRUE)[[1]]
}

# Everything that is compared for one case.
run_case <- function(case) {
  data <- case_data(case)
  levels <- label_levels(data$labels, case_coding(case))
  y <- encode_labels(data$labels, levels)
  seed_generator(case$seed, case$sample_kind)
  fit <- pegasos(data$X, y, case$lambda, case$epochs, case$intercept)
  signs <- predict_sign(scores(data$X, fit$beta, fit$alpha))
  table <- confusion(data$labels, decode_labels(signs, levels), levels)
  objective <- primal(data$X, y, fit$beta, fit$alpha, case$lambda)
  c(fit, list(table = table, actual = rownames(table), predicted = colnames(table),
              objective = objective))
}

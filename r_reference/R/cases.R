# The cases that R and Python share, listed in r_reference/cases.csv and sdca_cases.csv.
# Counterparts: tests/parity/cases.py and sdca_cases.py.

# Read a list of cases. An order is a word, or row numbers from 1, with a semicolon between
# epochs.
read_cases <- function(path) {
  given <- names(read.csv(path, nrows = 1))
  words <- c("name", "lambda", "order", "average", "profile", "weights", "start", "step",
             "offset")
  text <- intersect(words, given)
  cases <- read.csv(path, colClasses = setNames(rep("character", length(text)), text))
  cases$lambda <- as.numeric(cases$lambda)
  split(cases, factor(cases$name, cases$name))
}

# The data of a case: a list of X (matrix, n x p, named columns) and labels.
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

# Normal numbers, transformed according to the case. The first label is "b", so that the
# codings "factor" and "first-seen" differ.
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
    "wide range" = sweep(X, 2, 10^(2 * (1:p) - 7), "*"),
    "huge" = 1000 * X,
    "gaps" = { X[abs(X) < 1] <- 0; X[2, ] <- 0; X })
  list(X = X, labels = labels)
}

case_coding <- function(case) {
  strsplit(case$coding, "/", fixed = TRUE)[[1]]
}

case_order <- function(case) {
  if (case$order %in% c("shuffle", "sequential", "replace", "subset")) return(case$order)
  numbers <- function(line) as.numeric(strsplit(trimws(line), " +")[[1]])
  do.call(rbind, lapply(strsplit(case$order, ";", fixed = TRUE)[[1]], numbers))
}

# Rows in the storage of the case. "sparse with zeros" also stores zeros of odd columns.
case_rows <- function(case, X) {
  odd <- col(X) %% 2 == 1
  switch(case$storage,
    "dense" = X,
    "sparse" = sparse_rows(X),
    "sparse with zeros" = sparse_rows(X, X != 0 | odd))
}

# Weights: numbers that are recycled over the rows, or "balanced".
case_weights <- function(case, y) {
  if (case$weights == "") return(row_weights(NULL, y))
  if (case$weights == "balanced") return(row_weights("balanced", y))
  numbers <- as.numeric(strsplit(case$weights, " ", fixed = TRUE)[[1]])
  row_weights(rep_len(numbers, length(y)), y)
}

# Offsets: numbers that are recycled over the rows, by default 0.
case_offset <- function(case, y) {
  if (case$offset == "") return(rep(0, length(y)))
  rep_len(as.numeric(strsplit(case$offset, " ", fixed = TRUE)[[1]]), length(y))
}

case_fit <- function(case, X, y, weights, offset) {
  seed_generator(case$seed, case$sample_kind)
  pegasos(X, y, case$lambda, case$epochs, case$intercept, case$loss, case_order(case),
          case$steps, case$batch_size, case$project,
          type.convert(case$average, as.is = TRUE), case$refit, weights,
          word_or_numbers(case$start), case$first_step, word_or_numbers(case$step),
          case$tol, case$change_tol, offset)
}

# A word, or numbers separated by blanks.
word_or_numbers <- function(text) {
  if (grepl("[a-z]{2}", text)) text else as.numeric(strsplit(text, " ", fixed = TRUE)[[1]])
}

# All results that are compared for one case.
run_case <- function(case) {
  judged(case, function(X, y, weights, offset) case_fit(case, X, y, weights, offset))
}

# The fit of a case, with its confusion table and its certificate.
judged <- function(case, fit_to) {
  data <- case_data(case)
  levels <- label_levels(data$labels, case_coding(case))
  y <- encode_labels(data$labels, levels)
  X <- case_rows(case, data$X)
  weights <- case_weights(case, y)
  offset <- case_offset(case, y)
  fit <- fit_to(X, y, weights, offset)
  signs <- predict_sign(scores(X, fit$beta, fit$alpha) + offset, case$ties)
  table <- confusion(data$labels, decode_labels(signs, levels), levels)
  certified <- certificate(X, y, fit$beta, fit$alpha, fit$a, case$lambda, case$loss,
                           case$intercept, weights, offset)
  c(fit, certified,
    list(table = table, actual = rownames(table), predicted = colnames(table)))
}

# All results that are compared for one case of SDCA, which has no intercept.
run_sdca_case <- function(case) {
  case$intercept <- FALSE
  judged(case, function(X, y, weights, offset) {
    seed_generator(case$seed, case$sample_kind)
    stop_in <- if (!is.na(case$random_stop)) case$random_stop
    fit <- sdca(X, y, case$lambda, case$epochs, case$loss, case$start, weights, offset,
                type.convert(case$average, as.is = TRUE), stop_in)
    c(fit, list(alpha = 0, n_iter = length(fit$rows)))
  })
}

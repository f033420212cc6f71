# Write golden/margins.json:  Rscript r_reference/golden_margins.R
# Average effects and predictions of glm(), computed from the definition, with standard
# errors by the delta method: derivatives by central differences, without packages.

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))

i <- 1:240
data <- data.frame(
  x = ((37 * i) %% 101) / 20 + 0.2,
  z = ((59 * i) %% 83) / 40 - 1,
  g = c("a", "b", "c", "c", "c", "b", "c")[(i * i) %% 7 + 1],
  b = i %% 3 == 0)
score <- with(data, 0.4 * x - z + (g == "b") - 0.5 * (g == "c") * log(x) + 0.6 * b - 1)
data$y <- as.integer(((53 * i) %% 97) / 97 < plogis(score))

fit <- glm(y ~ x + I(x^2) + log(x):g + g + z + b, binomial, data,
           control = glm.control(epsilon = 1e-14, maxit = 100))

chances <- function(beta, data) {
  drop(plogis(model.matrix(delete.response(terms(fit)), data, xlev = fit$xlevels) %*% beta))
}

with_value <- function(data, name, value) {
  data[[name]] <- value
  data
}

prediction <- function(name, value) {
  function(beta) mean(chances(beta, with_value(data, name, value)))
}

difference <- function(name, from, to, rows = data) {
  function(beta) {
    mean(chances(beta, with_value(rows, name, to)) -
           chances(beta, with_value(rows, name, from)))
  }
}

slope <- function(name, rows = data, h = 1e-5) {
  function(beta) {
    x <- rows[[name]]
    mean(chances(beta, with_value(rows, name, x + h)) -
           chances(beta, with_value(rows, name, x - h))) / (2 * h)
  }
}

# Returns the estimate and its standard error.
delta <- function(estimand, h = 1e-5) {
  beta <- coef(fit)
  gradient <- sapply(seq_along(beta), function(j) {
    step <- replace(numeric(length(beta)), j, h)
    (estimand(beta + step) - estimand(beta - step)) / (2 * h)
  })
  c(estimand(beta), sqrt(drop(gradient %*% vcov(fit) %*% gradient)))
}

at <- with_value(with_value(data, "x", 2), "g", "c")
found <- list(
  "b: TRUE - FALSE" = delta(difference("b", FALSE, TRUE)),
  "g: b - a" = delta(difference("g", "a", "b")),
  "g: c - a" = delta(difference("g", "a", "c")),
  "g: c - b" = delta(difference("g", "b", "c")),
  "x: slope" = delta(slope("x")),
  "z: slope" = delta(slope("z")),
  "x: slope at x = 2, g = c" = delta(slope("x", at)),
  "z: + 0.5" = delta(difference("z", data$z, data$z + 0.5)),
  "g = a" = delta(prediction("g", "a")),
  "g = b" = delta(prediction("g", "b")),
  "g = c" = delta(prediction("g", "c")),
  "x = 2" = delta(prediction("x", 2)))

lines <- sprintf('  "%s": [%.12g, %.12g]', names(found),
                 sapply(found, `[`, 1), sapply(found, `[`, 2))
writeLines(c("{", paste(lines, collapse = ",\n"), "}"),
           file.path(here, "golden", "margins.json"))

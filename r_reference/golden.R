# Write the golden values of r_reference/cases.csv and sdca_cases.csv:
# Rscript --vanilla r_reference/golden.R
# Numbers are hexadecimal, which is exact; objectives have 17 digits.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
for (file in list.files(file.path(here, "R"), full.names = TRUE)) source(file)
options(warn = 2)
invisible(Sys.setlocale("LC_COLLATE", "C"))

quoted <- function(x) paste0("\"", x, "\"")
hex <- function(x) quoted(sprintf("%a", as.numeric(x)))
whole <- function(x) sprintf("%.0f", as.numeric(x))
digits17 <- function(x) sprintf("%.17g", x)
array <- function(items) paste0("[", paste(items, collapse = ", "), "]")
object <- function(items, between = ", ") {
  paste0("{", paste0(quoted(names(items)), ": ", items, collapse = between), "}")
}
write_lines <- function(items, file) {
  text <- object(items, ",\n")
  writeLines(text, file.path(here, "golden", file))
}

golden_case <- function(case) object(golden_fields(case, run_case(case)))

golden_sdca_case <- function(case) {
  found <- run_sdca_case(case)
  object(c(golden_fields(case, found), dual = array(hex(found$a))))
}

# rows_sum = sum of row * position: it changes if two visits are exchanged.
golden_fields <- function(case, found) {
  found$predicted[is.na(found$predicted)] <- "NA"
  c(
    lambda = hex(case$lambda),
    data_sum = hex(data_sum(case_data(case)$X)),
    rows = array(whole(head(found$rows, 10))),
    rows_sum = whole(sum(as.numeric(found$rows) * seq_along(found$rows))),
    violations = whole(found$violations),
    n_iter = whole(found$n_iter),
    alpha = hex(found$alpha),
    beta = array(hex(found$beta)),
    actual = array(quoted(found$actual)),
    predicted = array(quoted(found$predicted)),
    table = array(apply(found$table, 1, function(row) array(whole(row)))),
    objective = digits17(found$objective),
    dual_objective = digits17(found$dual_objective))
}

# Sum column by column, without the long double of sum().
data_sum <- function(X) {
  total <- 0
  for (x in X) total <- total + x
  total
}

golden_data <- function(data) {
  columns <- apply(data$X, 2, function(x) array(hex(x)))
  text <- is.character(data$labels)
  labels <- if (text) quoted(data$labels) else whole(data$labels)
  object(c(columns, labels = array(labels)), ",\n  ")
}

# Rows of resamples, one line per resample, and refits of the log loss to R's data sets.
golden_bootstrap <- function(sample_kind) {
  seed_generator(443, sample_kind)
  rows <- bootstrap_rows(17, 4)
  many <- bootstrap_rows(1000, 3)
  data <- case_data(list(data = "mtcars scaled"))
  y <- encode_labels(data$labels, label_levels(data$labels, "factor"))
  seed_generator(443, sample_kind)
  refits <- bootstrap_logit(data$X, y, 0.1, 20)
  lines <- function(X, format) array(apply(X, 1, function(x) array(format(x))))
  object(c(rows = lines(rows, whole),
           many_rows_sum = array(whole(many %*% 1:1000)),
           refits = lines(refits, digits17)))
}

cases <- read_cases(file.path(here, "cases.csv"))
write_lines(sapply(cases, golden_case), "pegasos.json")

sdca_cases <- read_cases(file.path(here, "sdca_cases.csv"))
write_lines(sapply(sdca_cases, golden_sdca_case), "sdca.json")

kinds <- sapply(cases, function(case) case$data)
real <- cases[!duplicated(kinds) & grepl("iris|mtcars", kinds)]
names(real) <- sapply(real, function(case) case$data)
write_lines(sapply(lapply(real, case_data), golden_data), "data.json")

kinds <- c(rejection = "Rejection", rounding = "Rounding")
write_lines(sapply(kinds, golden_bootstrap), "bootstrap.json")

# Write golden/caret.json: Rscript --vanilla r_reference/golden_caret.R
# Tables of many kinds, with caret's statistics to 17 digits.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "R", "caret.R"))
if (Sys.getenv("TZ") == "") Sys.setenv(TZ = "UTC")  # packages that caret imports need it
invisible(suppressMessages(loadNamespace("caret")))
options(warn = 2)
invisible(Sys.setlocale("LC_COLLATE", "C"))

quoted <- function(x) paste0("\"", x, "\"")
numbers <- function(x) ifelse(is.na(x), "null", sprintf("%.17g", x))
array <- function(items) paste0("[", paste(items, collapse = ", "), "]")
object <- function(items, between = ", ") {
  paste0("{", paste0(quoted(names(items)), ": ", items, collapse = between), "}")
}

# Counts row by row: rows are actual classes, columns predicted classes.
tables <- list(
  "digits" = c(285, 15, 8, 292),
  "equal errors" = c(10, 5, 5, 10),
  "no errors" = c(10, 0, 0, 7),
  "one error" = c(81, 1, 0, 81),
  "one predicted level" = c(300, 0, 300, 0),
  "one actual level" = c(10, 5, 0, 0),
  "one level" = c(7, 0, 0, 0),
  "all wrong" = c(0, 4, 9, 0),
  "rare class" = c(3, 2, 17, 999978),
  "one row" = c(0, 1, 0, 0),
  "three levels" = c(20, 2, 1, 3, 18, 4, 0, 5, 25),
  "three levels, one never predicted" = c(20, 2, 0, 3, 18, 0, 0, 5, 0),
  "three levels, one not there" = c(20, 2, 0, 3, 18, 0, 0, 0, 0),
  "three levels, symmetric" = c(5, 2, 3, 2, 6, 4, 3, 4, 7),
  "four levels" = c(9, 1, 2, 1, 3, 8, 1, 2, 1, 1, 7, 4, 2, 2, 1, 30))

golden_table <- function(cells) {
  k <- sqrt(length(cells))
  counts <- matrix(cells, k, byrow = TRUE)
  found <- caret_numbers(counts, letters[1:k])
  last <- if (k == 2) caret_numbers(counts, letters[1:k], positive = "b", prevalence = 0.1)
          else caret_numbers(counts, letters[1:k], prevalence = (1:k) / 20)
  object(c(
    counts = array(apply(counts, 1, function(row) array(sprintf("%.0f", row)))),
    names = array(quoted(found$names)),
    overall = array(numbers(found$overall)),
    by_class = array(numbers(found$by_class)),
    other_by_class = array(numbers(last$by_class))))
}

writeLines(object(sapply(tables, golden_table), ",\n"),
           file.path(here, "golden", "caret.json"))

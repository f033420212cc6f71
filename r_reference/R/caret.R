# caret's report of a table with actual classes in rows and predicted classes in columns.

caret_report <- function(counts, levels, positive = NULL, prevalence = NULL,
                         mode = "sens_spec") {
  counts <- t(matrix(counts, length(levels), dimnames = list(levels, levels)))
  names(dimnames(counts)) <- c("Prediction", "Reference")
  if (length(levels) > 2 && !is.null(prevalence)) names(prevalence) <- levels
  caret::confusionMatrix(as.table(counts), positive = positive,
                         prevalence = prevalence, mode = mode)
}

caret_numbers <- function(...) {
  found <- caret_report(...)
  by_class <- found$byClass
  if (is.matrix(by_class)) by_class <- t(by_class)
  list(overall = as.numeric(found$overall), by_class = as.numeric(by_class),
       names = c(names(found$overall), if (is.matrix(by_class)) rownames(by_class)
                 else names(by_class)))
}

# The printed output of caret, without the table.
caret_printed <- function(..., digits = 7) {
  old <- options(digits = digits, width = 80)
  on.exit(options(old))
  report <- caret_report(...)
  utils::tail(utils::capture.output(print(report)), -(nrow(report$table) + 4))
}

# Labels, predictions and their table. Counterparts: pegasos_stats/data/labels.py and
# pegasos_stats/metrics/confusion.py.

# coding: "factor" (order of the levels), "first-seen" (the first label is coded -1), or the
# pair c(negative, positive). Missing labels and unused levels are ignored.
label_levels <- function(labels, coding = "factor") {
  present <- labels[!is.na(labels)]
  found <- if (length(coding) == 2) as.character(coding) else switch(coding,
    "factor" = levels(droplevels(factor(present))),
    "first-seen" = as.character(unique(present)),
    stop("coding must be \"factor\", \"first-seen\" or the two classes", call. = FALSE))
  if (length(found) != 2) {
    shown <- paste(c(found[seq_len(min(5, length(found)))], if (length(found) > 5) "..."),
                   collapse = ", ")
    stop("the outcome has ", length(found), " level", if (length(found) != 1) "s", " (",
         shown, "), not two; select the rows of two classes", call. = FALSE)
  }
  if (!all(present %in% found)) {
    stop("coding names ", paste(found, collapse = ", "), ", but the outcome has the classes ",
         paste(unique(present), collapse = ", "), "; name these in coding", call. = FALSE)
  }
  found
}

# Labels as a factor, with all levels.
factor_of <- function(labels) if (is.factor(labels)) labels else factor(labels)

# -1 for the first class, +1 for the second, NA for a missing label.
encode_labels <- function(labels, levels) {
  ifelse(as.character(labels) == levels[1], -1, 1)
}

decode_labels <- function(signs, levels) {
  ifelse(signs < 0, levels[1], levels[2])
}

# The sign of a score of exactly 0 is NA ("na"), +1 ("positive") or -1 ("negative").
predict_sign <- function(scores, ties = "na") {
  at_zero <- switch(ties, na = NA, positive = 1, negative = -1)
  ifelse(scores == 0, at_zero, sign(scores))
}

# The table contains both classes, even with counts of 0, and a column NA only if a row has
# no prediction. Rows without an actual label are not counted.
confusion <- function(actual, predicted, levels) {
  kept <- !is.na(actual)
  table(Actual = factor(actual[kept], levels),
        Predicted = factor(predicted[kept], levels), useNA = "ifany")
}

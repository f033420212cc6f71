# Labels, predictions and their table. Beside it stand pegasos_stats/data/labels.py and
# pegasos_stats/metrics/confusion.py.

# coding: "factor" (order of the levels), "first-seen" (the first label is -1), or the
# pair c(negative, positive). Missing labels and unused levels do not count.
label_levels <- function(labels, coding = "factor") {
  present <- labels[!is.na(labels)]
  found <- if (length(coding) == 2) as.character(coding) else switch(coding,
    "factor" = levels(droplevels(factor(present))),
    "first-seen" = as.character(unique(present)))
  stopifnot(length(found) == 2, present %in% found)
  found
}

# -1 for the first level, +1 for the second, NA for a missing label.
encode_labels <- function(labels, levels) {
  ifelse(as.character(labels) == levels[1], -1, 1)
}

decode_labels <- function(signs, levels) {
  ifelse(signs < 0, levels[1], levels[2])
}

# At a score of exactly 0 the label is NA ("na"), +1 ("positive") or -1 ("negative").
predict_sign <- function(scores, ties = "na") {
  at_zero <- switch(ties, na = NA, positive = 1, negative = -1)
  ifelse(scores == 0, at_zero, sign(scores))
}

# All levels are there, also with zero counts; a column NA only where it is needed.
# Rows without an actual label are in no count.
confusion <- function(actual, predicted, levels) {
  kept <- !is.na(actual)
  table(Actual = factor(actual[kept], levels),
        Predicted = factor(predicted[kept], levels), useNA = "ifany")
}

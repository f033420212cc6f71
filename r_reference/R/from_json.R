# Read and use fits that Python wrote as JSON, by result.to_json(), without packages.
#
#   fit <- read_fit("fit.json")
#   score_fit(fit, data)      # scores, as decision_function() in Python
#   predict_fit(fit, data)    # labels, as predict(fit, data); NA at a score of exactly 0

read_fit <- function(path) {
  text <- paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  fit <- parse_json(text)
  known <- identical(fit$format, "pegasos_stats linear fit") &&
    fit$version$text == "1"
  if (!known) stop("the file is not a linear fit of version 1 by pegasos_stats")
  structure(fit, class = "python_fit")
}

# Convert JSON to lists: objects with names, arrays without. Numbers remain text, in $text.
parse_json <- function(text) {
  token <- paste0(
    "\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
    "|true|false|null|[][{}:,]"
  )
  tokens <- regmatches(text, gregexpr(token, text, perl = TRUE))[[1]]
  at <- 0
  following <- function() {
    at <<- at + 1
    tokens[at]
  }
  # Items up to a closing bracket; the items of an object have names.
  items <- function(closing, named) {
    found <- list()
    names <- character()
    if (tokens[at + 1] == closing) {
      following()
      return(found)
    }
    repeat {
      if (named) {
        names <- c(names, json_text(following()))
        following()  # the colon
      }
      found[[length(found) + 1]] <- value()
      if (following() == closing) break
    }
    if (named) names(found) <- names
    found
  }
  value <- function() {
    sign <- following()
    if (sign == "{") return(items("}", TRUE))
    if (sign == "[") return(items("]", FALSE))
    if (sign == "true") return(TRUE)
    if (sign == "false") return(FALSE)
    if (sign == "null") return(NA)
    if (startsWith(sign, "\"")) return(json_text(sign))
    list(text = sign)
  }
  value()
}

json_text <- function(quoted) {
  inner <- substr(quoted, 2, nchar(quoted) - 1)
  pattern <- "\\\\(u[0-9a-fA-F]{4}|.)"
  escapes <- gregexpr(pattern, inner, perl = TRUE)
  meant <- lapply(regmatches(inner, escapes), function(found) {
    vapply(found, function(escape) {
      sign <- substr(escape, 2, 2)
      if (sign == "u") return(intToUtf8(strtoi(substr(escape, 3, 6), 16L)))
      known <- c(n = "\n", t = "\t", r = "\r", b = "\b", f = "\f")
      if (sign %in% names(known)) known[[sign]] else sign
    }, "", USE.NAMES = FALSE)
  })
  regmatches(inner, escapes) <- meant
  enc2utf8(inner)
}

# The exact double: R reads hexadecimal digits exactly, decimal digits with rounding.
exact <- function(number) as.numeric(number$hex)

score_fit <- function(fit, data) {
  total <- rep(exact(fit$intercept), nrow(data))
  for (name in unique(unlist(lapply(fit$terms, function(term) {
    lapply(term$parts, tree_columns)
  })))) {
    total[is.na(json_column(name, data))] <- NA
  }
  for (term in fit$terms) {
    value <- rep(1, nrow(data))
    for (part in term$parts) value <- value * tree_value(part, data)
    value <- (value - exact(term$centre)) / exact(term$scale)
    total <- total + exact(term$coefficient) * value
  }
  total
}

predict_fit <- function(fit, data) {
  score <- score_fit(fit, data)
  levels <- json_levels(fit)
  labels <- rep(levels[NA_integer_], nrow(data))
  labels[which(score < 0)] <- levels[1]
  labels[which(score > 0)] <- levels[2]
  labels
}

json_levels <- function(fit) {
  plain <- function(level) if (is.list(level)) as.numeric(level$text) else level
  c(plain(fit$outcome$negative), plain(fit$outcome$positive))
}

# Names of the columns that a tree uses.
tree_columns <- function(tree) {
  if (tree[[1]] == "column") return(tree[[2]])
  if (tree[[1]] %in% c("levels", "in")) return(tree_columns(tree[[2]]))
  if (tree[[1]] %in% c("number", "text")) return(NULL)
  unlist(lapply(tree[-1], tree_columns))
}

# Value of a tree for every row.
tree_value <- function(tree, data) {
  operation <- tree[[1]]
  if (operation == "column") return(json_column(tree[[2]], data))
  if (operation == "number") return(exact(tree[[2]]))
  if (operation == "text") return(tree[[2]])
  if (operation %in% c("levels", "in")) {
    place <- json_match(tree_value(tree[[2]], data), tree[[3]])
    if (operation == "in") return(ifelse(is.na(place), NA, place > 0))
    values <- vapply(tree[[4]], exact, 0)
    place[which(place == 0)] <- NA
    return(values[place])
  }
  parts <- lapply(tree[-1], tree_value, data = data)
  if (operation == "if") {
    test <- rep_len(parts[[1]], nrow(data))
    return(ifelse(test, parts[[2]], parts[[3]]))
  }
  computed <- list(
    "+" = `+`, "-" = `-`, "*" = `*`, "/" = `/`, "**" = `^`, negative = `-`,
    "==" = `==`, "!=" = `!=`, "<" = `<`, "<=" = `<=`, ">" = `>`, ">=" = `>=`,
    and = `&`, or = `|`, not = `!`, least = pmin, greatest = pmax, ln = log,
    log10 = log10, exp = exp, sqrt = sqrt, abs = abs, sin = sin, cos = cos, tan = tan,
    asin = asin, acos = acos, atan = atan, floor = floor, ceiling = ceiling
  )
  do.call(computed[[operation]], unname(parts))
}

json_column <- function(name, data) {
  place <- match(name, enc2utf8(names(data)))
  if (is.na(place)) stop("column ", name, " is missing in the data")
  column <- data[[place]]
  if (is.factor(column)) as.character(column) else column
}

# Position of each value among the levels: 0 if unknown, NA if missing.
json_match <- function(values, levels) {
  plain <- lapply(levels, function(level) {
    if (is.list(level)) as.numeric(level$text) else level
  })
  place <- match(values, unlist(plain), nomatch = 0L)
  ifelse(is.na(values), NA, place)
}

# Answer requests from Python, which are files with R code.
# Counterpart: pegasos_stats/studies/parity.py.

# Run request.R of a folder in an environment, and write answer.bin: a list with `value`, the
# value of the last expression, or with `error`, the message of an error.
answer_request <- function(folder, environment) {
  written <- function(found) {
    to <- file(file.path(folder, "answer.bin"), "wb")
    on.exit(close(to))
    write_value(found, to)
  }
  code <- file.path(folder, "request.R")
  tryCatch(
    written(list(value = eval(parse(code, keep.source = FALSE, encoding = "UTF-8"),
                              environment))),
    error = function(failed) written(list(error = conditionMessage(failed))))
}

# Write a value: its type, length and dimensions as text, then its content. The content of a
# list is its names and its items. Numbers are written as doubles; text is preceded by "+",
# or by "-" if it is missing.
write_value <- function(x, to) {
  if (is.factor(x)) x <- as.character(x)
  known <- c("NULL", "list", "character", "logical", "integer", "double")
  if (!typeof(x) %in% known) stop("values of type ", typeof(x), " cannot be returned")
  put <- function(text) writeBin(enc2utf8(text), to)
  put(c(typeof(x), sprintf("%d", length(x)), paste(dim(x), collapse = " ")))
  if (is.list(x)) {
    put(if (is.null(names(x))) rep("", length(x)) else names(x))
    for (each in x) write_value(each, to)
  } else if (is.character(x)) {
    put(paste0(ifelse(is.na(x), "-", "+"), x))
  } else if (!is.null(x)) {
    writeBin(as.double(x), to)
  }
}

# Properties of R and its libraries that may affect numerical results.
r_facts <- function() {
  blas <- if (getRversion() >= "3.4.0") extSoftVersion()[["BLAS"]] else ""
  list(version = as.character(getRversion()), blas = blas,
       matprod = as.character(getOption("matprod", "default")),
       kinds = RNGkind(), collate = Sys.getlocale("LC_COLLATE"))
}

# Kinds and state of the generator; random_state_is() restores them.
random_state <- function() {
  list(kinds = RNGkind(),
       seed = get0(".Random.seed", globalenv(), inherits = FALSE))
}

random_state_is <- function(state, where = globalenv()) {
  suppressWarnings(do.call(RNGkind, as.list(state$kinds)))
  if (is.null(state$seed)) rm(".Random.seed", envir = where)
  else assign(".Random.seed", state$seed, envir = where)
}

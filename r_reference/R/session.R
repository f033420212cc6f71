# Requests of Python, which are files of R code, and their answers.
# Beside it stands pegasos_stats/studies/parity.py.

# Runs request.R of a folder in an environment, and writes the value of the last
# expression to answer.bin: a list of value, or of the error in words.
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

# A value in bytes: its type, length and dimensions as text, and what it holds. Of a list
# these are its names and its items; numbers are doubles, text begins with "-" if missing.
write_value <- function(x, to) {
  if (is.factor(x)) x <- as.character(x)
  known <- c("NULL", "list", "character", "logical", "integer", "double")
  if (!typeof(x) %in% known) stop("a value of type ", typeof(x), " is no data")
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

# What numbers of R may depend on.
r_facts <- function() {
  blas <- if (getRversion() >= "3.4.0") extSoftVersion()[["BLAS"]] else ""
  list(version = as.character(getRversion()), blas = blas,
       matprod = as.character(getOption("matprod", "default")),
       kinds = RNGkind(), collate = Sys.getlocale("LC_COLLATE"))
}

# Kinds and state of the generator, to be put back by random_state_is().
random_state <- function() {
  list(kinds = RNGkind(),
       seed = get0(".Random.seed", globalenv(), inherits = FALSE))
}

random_state_is <- function(state, where = globalenv()) {
  suppressWarnings(do.call(RNGkind, as.list(state$kinds)))
  if (is.null(state$seed)) rm(".Random.seed", envir = where)
  else assign(".Random.seed", state$seed, envir = where)
}

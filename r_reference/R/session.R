# Requests of Python, and their answers, as R's own serialized data.
# Beside it stands pegasos_stats/studies/parity/r_session.py.

# request: a list of do ("eval", "call" or "set") and what that needs. Value: a list of
# value, or of the error in words.
answered <- function(request, environment) {
  named <- function(request) {
    if (length(request$names) == 0) return(list())
    setNames(request$arguments, request$names)
  }
  evaluated <- function(code) eval(parse(text = code, encoding = "UTF-8"), environment)
  # As R calls functions: a variable of the same name is passed over.
  callable <- function(code) {
    found <- get0(code, environment, mode = "function")
    if (is.null(found)) evaluated(code) else found
  }
  tryCatch(
    list(value = switch(request$do,
      eval = evaluated(request$code),
      call = do.call(callable(request$code), named(request), quote = TRUE),
      set = {
        assign(request$name, request$value, environment)
        NULL
      })),
    error = function(failed) list(error = conditionMessage(failed)))
}

# The same from bytes to bytes.
answered_bytes <- function(bytes, environment) {
  serialize(answered(unserialize(bytes), environment), NULL, version = 2)
}

# Answers from a process of R: each line that comes in stands for a request in a file,
# and the last line that goes out, for its answer in the other.
answer_files <- function(request, answer, done, environment) {
  if (!l10n_info()$`UTF-8`) suppressWarnings(Sys.setlocale("LC_CTYPE", "C.UTF-8"))
  asked <- file("stdin", "r")
  while (length(readLines(asked, 1)) == 1) {
    found <- answered(readRDS(request), environment)
    saveRDS(found, answer, version = 2, compress = FALSE)
    cat("\n", done, "\n", sep = "")
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

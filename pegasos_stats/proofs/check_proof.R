# Check a proof with R, gmp and Rmpfr: Rscript check_proof.R fit.proof.json
#
# P = lam/2 |b|^2 + mean w_i loss(y_i (c + x_i'b + o_i)) is the objective. Its minimum is at
# least D = mean (w_i H(a_i/w_i) - a_i y_i o_i) - |sum a_i y_i x_i|^2 / (2 lam n^2) for
# dual weights a with sum a_i y_i = 0 if there is an intercept c. If lam = 0, the last term
# is omitted and sum a_i y_i x_i = 0. H(t) is the minimum of loss(m) + t m over m. Numbers
# are exact decimals. Logarithms have 260 bits; rounding errors can only increase the
# difference P - D. The exit status is 0 if the claim is proved.
suppressPackageStartupMessages({
  library(gmp)
  library(Rmpfr)
})
CLAIM <- "The objective at these coefficients is at most gap above its minimum."
KEYS <- c("claim", "design", "sha256", "rows", "loss", "lam", "intercept", "names",
          "coefficients", "gap", "decimals", "solved", "dual")
DUAL <- as.bigz(2)^60
BITS <- 260
ROWS <- 20000  # rows per block

require_that <- function(condition, reason) if (!isTRUE(condition)) stop(reason, call. = FALSE)

# Convert text to text * 10^places, exactly.
integer_of <- function(text, places = 0) {
  plain <- grepl("^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,3})?$", text)
  require_that(all(plain), "a text is not a number")
  mantissa <- sub("[eE].*", "", text)
  exponent <- as.integer(ifelse(grepl("[eE]", text), sub(".*[eE]", "", text), "0"))
  digits <- gsub("[-.]", "", mantissa)
  zeros <- places + exponent - nchar(sub("^[^.]*[.]?", "", mantissa))
  cut <- pmin(nchar(digits), pmax(0, -zeros))
  rest <- substring(digits, nchar(digits) - cut + 1)
  require_that(!any(grepl("[1-9]", rest)), "a number has too many decimals")
  whole <- paste0(substring(digits, 1, nchar(digits) - cut), strrep("0", pmax(0, zeros)))
  whole <- sub("^0+", "", whole)  # gmp reads 012 in base 8
  as.bigz(ifelse(whole == "", "0", whole)) * ifelse(startsWith(text, "-"), -1L, 1L)
}
decimal <- function(text) as.bigq(integer_of(text, 400), as.bigz(10)^400)

# Read a flat JSON object: numbers as text, decoded strings, and vectors of both.
read_proof <- function(path) {
  text <- readChar(path, file.size(path), useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  token <- "\"(?:[^\"\\\\]|\\\\.)*+\"|[-+.0-9A-Za-z]+|[][{}:,]"
  tokens <- regmatches(text, gregexpr(token, text, perl = TRUE))[[1]]
  require_that(!grepl("[^ \n\r\t]", gsub(token, "", text, perl = TRUE)), "not JSON")
  take <- function(expected) {
    require_that(identical(tokens[i], expected), "not JSON")
    i <<- i + 1
  }
  decoded <- function(token) if (startsWith(token, "\"")) str2lang(token) else token
  i <- 1
  proof <- list()
  take("{")
  repeat {
    key <- decoded(tokens[i])
    require_that(!(key %in% names(proof)), "a key appears twice")
    i <- i + 1
    take(":")
    if (tokens[i] == "[") {
      end <- i + match("]", tokens[-seq_len(i)])
      inside <- tokens[seq_len(end - i - 1) + i]
      odd <- seq_along(inside) %% 2 == 1
      require_that(all(inside[!odd] == ",") && length(inside) %% 2 == (length(inside) > 0),
                   "not JSON")
      proof[[key]] <- I(vapply(inside[odd], decoded, "", USE.NAMES = FALSE))
      i <- end + 1
    } else {
      proof[[key]] <- decoded(tokens[i])
      i <- i + 1
    }
    if (tokens[i] == "}") break
    take(",")
  }
  require_that(i == length(tokens) && setequal(names(proof), KEYS), "missing or repeated keys")
  proof
}

sha256_of <- function(path) {
  if (exists("sha256sum", asNamespace("tools"))) return(unname(tools::sha256sum(path)))
  has_program <- nzchar(Sys.which("sha256sum"))
  command <- if (has_program) c("sha256sum", "") else c("shasum", "-a 256 ")
  line <- system2(command[1], paste0(command[2], shQuote(path)), stdout = TRUE)
  sub(" .*", "", sub("^\\\\", "", line))
}

# Compute the sum of w loss(m / q), rounded up.
loss_of <- function(kind, m, q, w) {
  short <- q - m
  if (kind == "log") short <- 0 - m
  short[short < 0] <- 0
  if (kind == "squared_hinge") return(as.bigq(sum(w * short^2), q^2))
  tails <- 0
  if (kind == "log") tails <- upper_sum(w, log1p(exp(-mpfr(abs(m), BITS) / mpfr(q, BITS))))
  as.bigq(sum(w * short), q) + tails
}
# Compute the sum of w t, rounded up, for t in [-1, 1] with errors of at most 2^-250.
upper_sum <- function(w, t) {
  rounded <- floor(t * mpfr(2, BITS)^240)
  as.bigq(sum(w * (.mpfr2bigz(rounded) + 2)), as.bigz(2)^240)
}

# Compute the sum of w H(a/w) - a y o, rounded down, for dual weights a / den and row
# weights w / one.
reward_of <- function(kind, a, den, w, y, o, one) {
  free <- kind == "squared_hinge" & w > 0
  require_that(all(a >= 0 & (free | a * one <= w * den)), "a dual weight is out of range")
  value <- as.bigq(0 - sum(a * y * o), den * one)
  if (kind != "log") value <- value + as.bigq(sum(a), den)
  if (any(free)) {
    squares <- (a[free]^2 * one * as.bigz(10)^60) %/% (4 * den^2 * w[free])
    value <- value - as.bigq(sum(squares + 1), as.bigz(10)^60)
  }
  inside <- kind == "log" & a > 0 & a * one < w * den
  if (any(inside)) {
    part <- a[inside] * one
    whole <- w[inside] * den
    share <- function(x) mpfr(x, BITS) / mpfr(whole, BITS)
    t <- share(part)
    rest <- share(whole - part)
    value <- value - upper_sum(w[inside], t * log(t) + rest * log(rest)) / one
  }
  value
}

check <- function(path) {
  p <- read_proof(path)
  lists <- c("names", "coefficients", "solved", "dual")
  require_that(p$claim == CLAIM && all(KEYS[vapply(p[KEYS], inherits, NA, "AsIs")] %in% lists)
               && all(vapply(p[lists], inherits, NA, "AsIs")), "the claim is unknown")
  require_that(p$intercept %in% c("true", "false"), "intercept is not true or false")
  require_that(p$loss %in% c("hinge", "log", "squared_hinge"), "the loss is unknown")
  free <- p$intercept == "true"
  n <- as.integer(as.character(integer_of(p$rows)))
  places <- as.integer(as.character(integer_of(p$decimals)))
  lam <- decimal(p$lam)
  gap <- decimal(p$gap)
  one <- as.bigz(10)^places
  B <- integer_of(unclass(p$coefficients), places)
  k <- length(B)
  require_that(lam >= 0 && gap >= 0 && places >= 0 && k == length(p$names) + free, "bad size")
  solved <- unique(as.integer(as.character(integer_of(unclass(p$solved)))))
  dual <- integer_of(unclass(p$dual))
  design <- file.path(dirname(path), p$design)
  require_that(identical(sha256_of(design), p$sha256), "the design has another SHA-256")
  con <- file(design, "r", encoding = "UTF-8")
  on.exit(close(con))
  size <- 3 + length(p$names)
  read <- function(...) scan(con, sep = ",", quote = "\"", quiet = TRUE, na.strings = NULL, ...)
  header <- read(what = "", nmax = size)
  require_that(identical(header, c("outcome", "weight", "offset", unclass(p$names))),
               "other columns")
  image <- as.bigz(integer(k))
  loss <- reward <- as.bigq(0)
  chosen <- list()
  done <- 0
  while (length((cells <- read(what = rep(list(""), size), nlines = ROWS, multi.line = FALSE))[[1]])) {
    columns <- lapply(cells, integer_of, places)
    rows <- done + seq_along(cells[[1]])
    done <- max(rows)
    y <- columns[[1]]
    w <- columns[[2]]
    o <- columns[[3]]
    require_that(all(abs(y) == one) && all(w >= 0) && done <= length(dual), "a wrong row")
    y <- y %/% one
    Z <- columns[-(1:3)]
    if (free) Z <- c(list(as.bigz(rep(1, length(rows))) * one), Z)
    a <- dual[rows]
    m <- o * one
    for (j in seq_len(k)) {
      m <- m + Z[[j]] * B[j]
      image[j] <- image[j] + sum(a * y * Z[[j]])
    }
    loss <- loss + loss_of(p$loss, y * m, one^2, w)
    is_chosen <- rows %in% solved
    for (i in which(is_chosen)) {
      z <- do.call(c, lapply(Z, `[`, i))
      chosen <- c(chosen, list(list(a = a[i], w = w[i], y = y[i], o = o[i], z = z)))
    }
    rest <- which(!is_chosen)
    if (length(rest))
      reward <- reward + reward_of(p$loss, a[rest], DUAL, w[rest], y[rest], o[rest], one)
  }
  require_that(done == n && length(dual) == n && n > 0, "wrong number of rows")
  held <- if (lam > 0) seq_len(free) else seq_len(k)
  require_that(length(chosen) == length(held), "wrong rows to correct")
  image <- as.bigq(image)
  if (length(held)) {
    Z <- lapply(chosen, function(row) row$z * row$y)
    M <- do.call(c, lapply(Z, function(z) z[held]))
    M <- matrix(as.bigq(M), length(held))
    # gmp does not exchange rows: M may lack a pivot, but M'M of an invertible M does not.
    move <- solve(t(M) %*% M, t(M) %*% (0 - image[held]))
    for (i in seq_along(chosen)) {
      row <- chosen[[i]]
      image <- image + as.bigq(Z[[i]]) * move[i]
      a <- as.bigq(row$a) + move[i]
      den <- denominator(a)
      reward <- reward + reward_of(p$loss, numerator(a), den * DUAL, row$w, row$y, row$o, one)
    }
    require_that(all(image[held] == 0), "the dual constraint does not hold")
  }
  slopes <- seq_len(k)[seq_len(k) > free]
  squares <- function(v) if (length(slopes)) sum(as.bigq(v[slopes])^2) else as.bigq(0)
  cost <- if (lam > 0) squares(image / (DUAL * one * n)) / (2 * lam) else as.bigq(0)
  upper <- lam / 2 * squares(as.bigq(B, one)) + loss / (one * n)
  list(upper = upper, lower = reward / n - cost, gap = gap)
}

bounds <- check(commandArgs(trailingOnly = TRUE)[1])
shown <- function(x, digits) formatC(asNumeric(x), digits = digits, format = "g")
difference <- bounds$upper - bounds$lower
cat("objective ", shown(bounds$upper, 17), ", lower bound ", shown(bounds$lower, 17),
    ", difference ", shown(difference, 3), ", claimed ", shown(bounds$gap, 3), "\n", sep = "")
quit(status = as.integer(difference < 0 || difference > bounds$gap))

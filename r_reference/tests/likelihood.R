# Maximum likelihood if the estimate exists, Firth's penalty, profile likelihoods.
library(pegasosStats)
fails <- function(code, words) {
  stopifnot(grepl(words, tryCatch(code, error = conditionMessage), fixed = TRUE))
}
near <- function(a, b, tolerance) isTRUE(all.equal(a, b, tolerance, check.attributes = FALSE))
fit <- logit(am ~ wt + hp, mtcars)
stopifnot(near(coef(fit)[["wt"]], -8.083475, 1e-7),
          near(sqrt(vcov(fit, "nonrobust")["wt", "wt"]), 3.068675, 1e-6),
          fit$certificate$gap >= 0, fit$certificate$gap < 1e-15,
          identical(coef(fit), coef(logit(am ~ wt + hp, mtcars, 0))))

# Results do not depend on the units of the predictors.
scaled <- transform(mtcars, wt = wt * 1e-6, hp = hp * 1e6)
stopifnot(near(coef(logit(am ~ wt + hp, scaled)), coef(fit) * c(1, 1e6, 1e-6), 1e-11))

# Of two columns that determine each other the later one is not estimated; nor is a constant.
twice <- transform(mtcars, more = 2 * wt + 3, one = 0.1)
partly <- logit(am ~ wt + more + hp + one, twice)
stopifnot(identical(names(which(is.na(coef(partly)))), c("more", "one")),
          near(coef(partly)[c(1, 2, 4)], coef(fit), 1e-10), near(AIC(partly), AIC(fit), 1e-12),
          near(predict(partly, twice, "link"), predict(fit, mtcars, "link"), 1e-9),
          is.na(vcov(partly)["more", "more"]),
          any(grepl("more, one", capture.output(partly), fixed = TRUE)))

# If the estimate does not exist: lam = 1/n, no standard errors, and the reason.
irises <- droplevels(iris[1:100, ])
none <- logit(Species ~ Petal.Length, irises)
stopifnot(none$lam == 1 / 100, all(is.finite(coef(none))),
          all(is.na(suppressWarnings(vcov(none)))),
          all(is.na(suppressWarnings(confint(none)))),
          any(grepl("Petal.Length separates", capture.output(summary(none)), fixed = TRUE)))
fails(logit(Species ~ Petal.Length, irises, lam = 0), "firth")
fails(logit(am ~ wt, mtcars, solver = Pegasos()), "no default lam")
fails(logit(am ~ wt, mtcars, solver = SDCA()), "no default lam")
fails(logit(am ~ wt, mtcars, lam = 0, solver = Pegasos()), "above 0")
draws <- bootstrap_fit(logit(am ~ disp + hp, mtcars), 60)
stopifnot(mean(is.infinite(draws[, 1])) > 0.025,
          inherits(tryCatch(vcov(fit, resamples = draws), warning = identity), "warning"),
          all(is.na(suppressWarnings(confint(fit, level = 0.9, resamples = draws)))))

# In a 2 x 2 table, Firth's odds ratio is that of the counts plus 1/2, even if a count is 0.
table <- data.frame(y = c(0, 1, 0, 1), x = c(0, 0, 1, 1), n = c(7, 4, 0, 5))
firth <- logit(y ~ x, table, weights = n, penalty = "firth")
stopifnot(near(coef(firth), c(log(4.5 / 7.5), log(5.5 * 7.5 / (0.5 * 4.5))), 1e-9),
          nobs(firth) == 16)
rows <- table[rep(1:4, table$n), ]
stopifnot(near(confint(firth), confint(logit(y ~ x, rows, penalty = "firth")), 1e-8))

# At the limits of a profile interval, the deviance equals the quantile of chi-squared. With
# Firth's penalty the determinant is that of both columns, although one coefficient is fixed.
penalised <- function(theta) {
  p <- plogis(theta[1] + theta[2] * rows$x)
  Z <- cbind(1, rows$x)
  sum(dbinom(rows$y, 1, p, log = TRUE)) + log(det(crossprod(Z * sqrt(p * (1 - p))))) / 2
}
best <- function(slope) {
  optimize(function(a) penalised(c(a, slope)), c(-10, 10), maximum = TRUE, tol = 1e-9)$objective
}
loss <- 2 * (penalised(coef(firth)) - sapply(confint(firth, "x"), best))
stopifnot(near(loss, rep(qchisq(0.95, 1), 2), 1e-7), near(firth$penalised, penalised(coef(firth)), 1e-10))
test <- summary(firth)$table["x", c("Chisq", "Pr(>Chisq)")]
statistic <- 2 * (penalised(coef(firth)) - best(0))
stopifnot(near(test, c(statistic, pchisq(statistic, 1, lower.tail = FALSE)), 1e-7))
two <- droplevels(iris[51:150, ])
sepal <- logit(Species ~ Sepal.Length + Sepal.Width, two)
held <- function(b) {
  deviance(glm(Species ~ Sepal.Width + offset(b * Sepal.Length), binomial, two,
               epsilon = 1e-14, maxit = 100))
}
limits <- confint(sepal, "Sepal.Length", method = "profile")
stopifnot(near(sapply(limits, held) - deviance(sepal), rep(qchisq(0.95, 1), 2), 1e-9))
fails(confint(logit(am ~ wt, mtcars, 0.1), method = "profile"), "without lam")
fails(logit(am ~ wt, mtcars, lam = 0.1, penalty = "firth"), "omit lam")
fails(logit(am ~ wt, mtcars, weights = qsec, penalty = "firth"), "whole numbers")
fails(logit(am ~ wt, mtcars, penalty = "lasso"), "firth")
fails(vcov(firth, "HC3"), "of the model")

# The summary of a penalised fit reports how far the penalty moves the coefficients.
moved <- function(lam) summary(logit(am ~ wt + hp, mtcars, lam))$moved
stopifnot(moved(1 / 32)$name == "wt", moved(1e-6)$by < 0.5,
          any(grepl("The penalty moves wt by about 2.2 standard errors",
                    capture.output(summary(logit(am ~ wt + hp, mtcars, 1 / 32))), fixed = TRUE)))

# Fits by the default solver, and methods of R's generics.
library(pegasosStats)
two <- droplevels(iris[51:150, ])
fails <- function(code, words) {
  stopifnot(grepl(words, tryCatch(code, error = conditionMessage), fixed = TRUE))
}
near <- function(a, b, tolerance) isTRUE(all.equal(a, b, tolerance, check.attributes = FALSE))

# The optimum is certified for both losses: for the hinge with lam = 1/n, for the log loss
# without a penalty.
cars <- transform(mtcars, w = rep(c(1, 2), 16), am = factor(am, labels = c("auto", "hand")))
hinge <- svm(am ~ wt + hp + qsec, cars)
log_fit <- logit(am ~ wt + hp, cars)
stopifnot(hinge$lam == 1 / 32, log_fit$lam == 0,
          hinge$certificate$gap <= 1e-6 * hinge$certificate$objective,
          log_fit$certificate$gap <= 1e-6 * log_fit$certificate$objective,
          any(grepl("duality gap", capture.output(hinge))),
          any(grepl("HC3", capture.output(summary(log_fit)))))

# Without a penalty, standard errors, likelihood and residuals are those of glm(), up to
# rounding, after glm() has continued from its own coefficients.
theirs <- glm(am ~ wt + offset(qsec / 10), binomial, cars, subset = hp < 250)
theirs <- update(theirs, start = coef(theirs), epsilon = 1e-15)
ours <- logit(am ~ wt + offset(qsec / 10), cars, subset = hp < 250)
stopifnot(near(coef(ours), coef(theirs), 1e-10),
          near(vcov(ours, "nonrobust"), vcov(theirs), 1e-10),
          near(confint(ours, type = "nonrobust"), confint.default(theirs), 1e-10),
          near(logLik(ours), logLik(theirs), 1e-12),
          near(deviance(ours), deviance(theirs), 1e-12),
          near(AIC(ours), AIC(theirs), 1e-12), nobs(ours) == nobs(theirs),
          near(fitted(ours), fitted(theirs), 1e-10))
for (type in c("deviance", "pearson", "response")) {
  stopifnot(near(residuals(ours, type), residuals(theirs, type), 1e-9))
}
stopifnot(near(predict(ours, cars, "link"), predict(theirs, cars), 1e-10),
          near(predict(ours, type = "response"), fitted(theirs), 1e-10))

# weights= is a column; a fit with whole numbers equals the fit to repeated rows.
repeated <- cars[rep(1:32, cars$w), ]
a <- svm(am ~ wt + hp, cars, 0.1, Optimum(1e-11), weights = w)
b <- svm(am ~ wt + hp, repeated, 0.1, Optimum(1e-11))
stopifnot(near(coef(a), coef(b), 1e-4),
          near(a$certificate$objective, b$certificate$objective, 1e-10),
          identical(coef(a), coef(svm(am ~ wt + hp, cars, 0.1, Optimum(1e-11),
                                      weights = cars$w))))

# predict() returns factors with the levels of the outcome, NA for rows that na.exclude drops.
stopifnot(identical(levels(predict(hinge)), c("auto", "hand")),
          identical(predict(hinge), predict(hinge, cars)),
          mean(predict(svm(Species ~ ., iris[51:150, ])) == iris$Species[51:150]) > 0.9)
cars$wt[4] <- NA
padded <- logit(am ~ wt, cars, na.action = na.exclude)
stopifnot(length(fitted(padded)) == 32, is.na(fitted(padded)[4]),
          is.na(residuals(padded)[4]), is.na(predict(padded)[4]), nobs(padded) == 31)
cars$wt[4] <- 3

# A seed does not change the session's random numbers.
RNGkind("Wichmann-Hill", "Box-Muller")
set.seed(5)
before <- list(RNGkind(), .Random.seed)
invisible(svm(am ~ wt, cars, 1, Pegasos(seed = 443)))
draws <- bootstrap_fit(svm(am ~ wt, cars), 50)
stopifnot(identical(before, list(RNGkind(), .Random.seed)))
RNGkind("default", "default", "default")

# Standard errors for the hinge come from resamples.
stopifnot(identical(vcov(hinge, resamples = draws), cov(draws)),
          dim(confint(svm(am ~ wt, cars), resamples = draws)) == c(2, 2))
fails(vcov(hinge), "bootstrap_fit(")
fails(confint(svm(am ~ wt, cars), level = 0.99, resamples = draws), "needs 199 resamples")
fails(predict(hinge, type = "response"), "no probabilities")
fails(logLik(hinge), "logit()")
fails(residuals(hinge), "logit()")
fails(svm(Species ~ ., iris), "3 levels")
fails(svm(am ~ wt, cars, lam = 0), "lam must be a number above 0")
fails(svm(am ~ wt, cars, weights = "w"), "without quotes")
fails(svm(am ~ wt, as.matrix(mtcars)), "as.data.frame()")
fails(svm(am ~ wt, cars, weights = -w), "0 or more")
fails(svm(am ~ wt, cars, solver = Pegasos), "Optimum()")
stopifnot(inherits(tryCatch(vcov(logit(am ~ wt, cars, 1, Pegasos(seed = 1))),
                            warning = identity), "warning"))
# Separated rows are excluded; coefficients that depend on them have no standard error.
q <- data.frame(y = c(0, 1, 0, 1, 0, 1, 0, 1, 1, 1), g = rep(c("a", "b"), c(7, 3)),
                x = c(1, 2, 3, 2, 1, 4, 2, 1, 3, 2))
errors <- suppressWarnings(sqrt(diag(vcov(logit(y ~ g + x, q, 0.1, Optimum(1e-12))))))
stopifnot(is.na(errors[["gb"]]), near(errors[-2], c(1.2702656, 0.5306390), 1e-6))

# Fits without predictors, without a data frame, and with arguments of a function.
stopifnot(near(coef(logit(am ~ 1, cars)), qlogis(13 / 32), 1e-12))
within <- function(d, l, v) coef(svm(am ~ wt, d, lam = l, weights = v))
stopifnot(identical(within(cars, 0.1, cars$w), coef(svm(am ~ wt, cars, 0.1, weights = w))))
outcome <- cars$am
stopifnot(identical(names(coef(svm(outcome ~ cars$hp))), c("Intercept", "cars$hp")))
fails(svm(am ~ 0, cars), "no predictor")
fails(svm(am ~ wt, cars, coding = c("a", "b")), "auto")
fails(Optimum(0), "tol must be")

# Methods that other functions call for glm() fits, and methods for broom and car.
library(pegasosStats)
fails <- function(code, words) {
  stopifnot(grepl(words, tryCatch(code, error = conditionMessage), fixed = TRUE))
}
near <- function(a, b, tolerance) isTRUE(all.equal(a, b, tolerance, check.attributes = FALSE))
installed <- function(name) {
  found <- requireNamespace(name, quietly = TRUE)
  if (!found) message(name, " is not installed: its tests are skipped")
  found
}

# glm() after one more step from its own coefficients: its standard errors use the weights
# of the last step.
cars <- transform(mtcars, gear = factor(gear), big = mpg < median(mpg))
exact <- function(formula, data, ...) {
  fit <- glm(formula, binomial, data, epsilon = 1e-15, ...)
  update(fit, start = coef(fit))
}
model <- big ~ qsec * drat + factor(carb > 2) + offset(cyl / 10)
ours <- logit(model, cars)
theirs <- exact(model, cars)
stopifnot(identical(family(ours)[1:2], binomial()[1:2]),
          df.residual(ours) == df.residual(theirs),
          near(model.matrix(ours), model.matrix(theirs), 1e-15),
          identical(attr(model.matrix(ours), "assign"), attr(model.matrix(theirs), "assign")),
          identical(colnames(model.matrix(ours)), names(coef(ours))),
          near(hatvalues(ours), hatvalues(theirs), 1e-8),
          near(cooks.distance(ours), cooks.distance(theirs), 1e-8),
          near(rstandard(ours), rstandard(theirs), 1e-8),
          identical(names(hatvalues(ours)), rownames(cars)))

# anova() of one model, term by term, and of several models.
same_table <- function(a, b, tolerance = 1e-8) {
  stopifnot(identical(names(a), names(b)), near(as.list(a), as.list(b), tolerance),
            identical(rownames(a), rownames(b)), inherits(a, "anova"))
}
same_table(anova(ours), anova(theirs, test = "Chisq"))
smaller <- update(ours, . ~ . - qsec:drat)
least <- update(ours, . ~ offset(cyl / 10))
same_table(anova(least, smaller, ours),
           anova(exact(formula(least), cars), exact(formula(smaller), cars), theirs,
                 test = "Chisq"))
through <- big ~ qsec + drat - 1
same_table(anova(logit(through, cars)), anova(exact(through, cars), test = "Chisq"))
fails(anova(ours, smaller), "anova(small, large)")
fails(anova(smaller, logit(model, cars[-1, ])), "same rows")
fails(anova(logit(big ~ qsec, cars, 0.1)), "without lam")
fails(anova(logit(big ~ qsec, cars, weights = wt)), "without lam")
fails(anova(svm(big ~ qsec, cars)), "without lam")
fails(anova(logit(big ~ qsec, cars, penalty = "firth")), "without lam")
fails(family(svm(big ~ qsec, cars)), "logit()")

# step() and drop1() select the same models as for glm().
full <- big ~ qsec + drat + hp
stepped <- step(logit(full, cars), trace = 0)
stopifnot(identical(formula(stepped), formula(step(glm(full, binomial, cars), trace = 0))),
          near(drop1(ours, test = "Chisq")[[4]], drop1(theirs, test = "Chisq")[[5]], 1e-6))

# FLIC has the slopes of Firth's penalty, and predicts the observed number of events.
firth <- logit(am ~ gear, mtcars, penalty = "firth")
flic <- logit(am ~ gear, mtcars, penalty = "flic")
stopifnot(identical(coef(flic)[-1], coef(firth)[-1]),
          near(mean(fitted(flic)), mean(mtcars$am), 1e-12),
          near(predict(flic, mtcars, "link"), flic$scores, 1e-12),
          any(grepl("FLIC", capture.output(summary(flic)))))
fails(vcov(flic), "for predictions")
fails(confint(flic), "for predictions")
fails(logit(am ~ gear - 1, mtcars, penalty = "flic"), "intercept")

# The area counts pairs; ties count one half.
area <- pegasosStats:::area_under_roc(ours$scores, ours$y)
pairs <- outer(ours$scores[ours$y > 0], ours$scores[ours$y < 0], `-`)
stopifnot(near(area, mean((pairs > 0) + (pairs == 0) / 2), 1e-14))
hinge <- svm(big ~ qsec + drat, cars)
draws <- bootstrap_fit(hinge, 39)
pdf(NULL)
stopifnot(identical(plot(ours), ours), identical(plot(hinge), hinge))
plot(hinge, "coefficients", resamples = draws, main = "Slopes")
invisible(dev.off())

if (installed("broom")) {
  table <- broom::tidy(ours, conf.int = TRUE, conf.level = 0.9, type = "nonrobust")
  normal <- unname(confint.default(theirs, level = 0.9))
  of_glm <- broom::tidy(theirs)
  stopifnot(identical(names(table), c(names(of_glm), "conf.low", "conf.high")),
            near(table[2:5], as.data.frame(of_glm[2:5]), 1e-8),
            near(as.matrix(table[6:7]), normal, 1e-8))
  odds <- broom::tidy(ours, conf.int = TRUE, exponentiate = TRUE)
  stopifnot(near(odds$estimate, exp(coef(ours)), 1e-14),
            near(as.matrix(odds[6:7]), exp(confint(ours)), 1e-14))
  profile <- broom::tidy(firth, conf.int = TRUE)
  stopifnot(near(profile$statistic^2, summary(firth)$table[, "Chisq"], 1e-12),
            identical(sign(profile$statistic), sign(profile$estimate)),
            near(as.matrix(profile[6:7]), confint(firth), 1e-14))
  stopifnot(all(is.na(broom::tidy(hinge)$std.error)), all(is.na(broom::tidy(flic)$p.value)))
  fails(broom::tidy(hinge, conf.int = TRUE), "bootstrap_fit(")
  fails(broom::tidy(hinge, exponentiate = TRUE), "logit()")
  table <- broom::tidy(hinge, conf.int = TRUE, resamples = draws)
  stopifnot(near(table$std.error, apply(draws, 2, sd), 1e-12),
            near(as.matrix(table[6:7]), confint(hinge, resamples = draws), 1e-14))

  one <- broom::glance(ours)
  of_glm <- as.data.frame(broom::glance(theirs))
  stopifnot(identical(names(one)[1:8], names(of_glm)), near(one[1:8], of_glm, 1e-10),
            one$lam == 0, one$gap < 1e-12, is.na(broom::glance(firth)$gap),
            is.na(broom::glance(hinge)$logLik), broom::glance(hinge)$lam == 1 / 32)
  through <- big ~ qsec - 1
  stopifnot(near(broom::glance(logit(through, cars))[1:8],
                 as.data.frame(broom::glance(exact(through, cars))), 1e-10))

  columns <- c(".fitted", ".resid", ".hat", ".cooksd", ".std.resid")
  stopifnot(near(broom::augment(ours)[columns],
                 as.data.frame(broom::augment(theirs)[columns]), 1e-8),
            identical(broom::augment(ours)$.class, predict(ours)))
  for (scale in c("link", "response")) {
    new <- broom::augment(ours, newdata = cars[3:5, ], type.predict = scale, se_fit = TRUE,
                          type = "nonrobust")
    expected <- predict(theirs, cars[3:5, ], scale, se.fit = TRUE)
    stopifnot(near(new$.fitted, expected$fit, 1e-10), identical(new$mpg, cars$mpg[3:5]),
              near(new$.se.fit, expected$se.fit, 1e-8))
  }
  # Excluded rows are absent; rows of the data are matched by their names.
  cars$qsec[4] <- NA
  padded <- logit(big ~ qsec, cars, na.action = na.exclude)
  added <- broom::augment(padded, cars)
  stopifnot(nrow(added) == 31, identical(added$hp, cars$hp[-4]),
            near(added$.resid, residuals(padded)[-4], 1e-15))
  fails(broom::augment(padded, cars[1:9, ]), "newdata")
  cars$qsec[4] <- mtcars$qsec[4]
}

if (installed("car")) {
  table <- function(fit, ...) suppressMessages(car::Anova(fit, ...))
  for (type in c("II", "III")) {
    same_table(table(ours, type, "LR"), table(theirs, type, "LR"))
    same_table(table(ours, type, vcov. = vcov(ours, "nonrobust")),
               table(theirs, type, "Wald"), 1e-7)
  }
  # Another covariance, and a penalised fit.
  wald <- function(b, V) sum(b * solve(V, b))
  fit <- logit(big ~ hp + gear, cars, lam = 0.1)
  expected <- c(coef(fit)[["hp"]]^2 / vcov(fit)["hp", "hp"],
                wald(coef(fit)[3:4], vcov(fit)[3:4, 3:4]))
  stopifnot(near(car::Anova(fit)$Chisq, expected, 1e-10),
            identical(car::Anova(fit)$Df, c(1, 2)))
  stopifnot(near(car::Anova(hinge, vcov. = cov(draws))$Chisq,
                 coef(hinge)[-1]^2 / diag(cov(draws))[-1], 1e-10))
  fails(car::Anova(fit, test.statistic = "LR"), "without lam")
  for (formula in list(big ~ qsec + drat, big ~ qsec + gear + hp)) {
    stopifnot(all.equal(car::vif(logit(formula, cars)), car::vif(exact(formula, cars)),
                        tolerance = 1e-8))
  }
  fails(car::vif(logit(big ~ qsec + I(2 * qsec) + hp, cars)), "I(2 * qsec); omit")
}

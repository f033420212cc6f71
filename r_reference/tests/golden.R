# Values from R 4.2.2, exact in every bit.
library(pegasosStats)

two <- droplevels(iris[51:150, ])
fit <- svm(Species ~ ., two, lam = 1, solver = Pegasos(epochs = 20, seed = 443))
beta <- c(-0.053649999999999927, -0.06150000000000002, 0.30564999999999948,
          0.22689999999999985)
stopifnot(identical(unname(fit$beta), beta),
          identical(fit$alpha, -0.90853134131329416),
          identical(as.vector(fit$confusion), c(5L, 0L, 45L, 50L)))

# The same values from the function on a matrix, and on sparse rows.
X <- as.matrix(two[1:4])
y <- encode_labels(two$Species, label_levels(two$Species))
seed_generator(443)
stopifnot(identical(unname(pegasos(X, y, 1, 20)$beta), beta))

# Pegasos has no default lam.
stopped <- tryCatch(svm(Species ~ ., two, solver = Pegasos()), error = conditionMessage)
stopifnot(grepl("set it, for example lam = 1", stopped, fixed = TRUE))

# predict() returns labels and scores, and NA if a value is missing.
labels <- predict(fit, two)
stopifnot(identical(as.vector(table(two$Species, labels)), c(5L, 0L, 45L, 50L)),
          identical(unname(predict(fit, two, "score")),
                    unname(drop(X %*% beta)) + fit$alpha))
two$Petal.Width[3] <- NA
stopifnot(is.na(predict(fit, two)[3]), !anyNA(predict(fit, two)[-3]))
stopifnot(any(grepl("duality gap", capture.output(print(summary(fit))))))

# SDCA needs a formula without intercept; weights belong to the retained rows.
stopped <- tryCatch(svm(Species ~ ., iris[51:150, ], 1, SDCA(seed = 1)),
                    error = conditionMessage)
stopifnot(grepl("SDCA has no intercept here", stopped))
w <- rep(c(1, 3), 50)
one <- logit(Species ~ . - 1, droplevels(two), 0.1, SDCA(200, seed = 1), weights = w)
stopifnot(one$nobs == 99, one$certificate$gap < 1e-3, one$alpha == 0)

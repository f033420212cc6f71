# The losses as functions of one margin m = y * (x'beta + alpha).
# Counterpart: pegasos_stats/compiled/risk.py.

# The log loss is log(1 + exp(-m)), computed so that exp() never overflows.
loss_value <- function(loss, m) {
  if (loss == "hinge") return(max(0, 1 - m))
  if (loss == "squared_hinge") return(max(0, 1 - m) * max(0, 1 - m))
  if (m > 0) log1p(exp(-m)) else log1p(exp(m)) - m
}

# s(m) = -loss'(m): the weight of y * x in a step.
slope <- function(loss, m) {
  if (loss == "hinge") return(if (m < 1) 1 else 0)
  if (loss == "squared_hinge") return(2 * max(0, 1 - m))
  if (m > 0) exp(-m) / (1 + exp(-m)) else 1 / (1 + exp(m))
}

# Hinge losses: the margin is below 1. Log loss: the row is misclassified.
violated <- function(loss, m) {
  if (loss == "log") m < 0 else m < 1
}

# The conjugate term of a dual weight a in [0, 1]; for the squared hinge, a >= 0.
dual_entropy <- function(loss, a) {
  if (loss == "hinge") return(a)
  if (loss == "squared_hinge") return(a - a * a / 4)
  if (a <= 0 || a >= 1) 0 else -a * log(a) - (1 - a) * log1p(-a)
}

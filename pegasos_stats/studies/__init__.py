"""Many fits: choice of lambda, calibration, comparisons."""

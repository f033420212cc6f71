"""Numerical kernels: arrays in, arrays out; no pandas, no random numbers."""

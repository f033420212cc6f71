"""Compiled code: arrays in, arrays out; no pandas, no options, no generator."""

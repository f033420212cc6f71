"""Standard errors, tests and intervals of linear fits: functions of arrays."""

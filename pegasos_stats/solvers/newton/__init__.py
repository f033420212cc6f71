"""Newton steps to the optimum: of dense rows by numpy alone, nothing compiled."""

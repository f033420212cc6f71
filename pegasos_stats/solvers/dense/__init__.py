"""Dense rows with a moderate number of columns: numpy alone, nothing compiled."""

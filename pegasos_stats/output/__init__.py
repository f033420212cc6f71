"""What people look at: figures, reports, the command line."""

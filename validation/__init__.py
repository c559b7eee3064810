"""Studies that put the solver to the test: it imports `solver`, never the reverse."""

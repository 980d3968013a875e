"""What happened: the ledger and the package, held against the plan that was built."""

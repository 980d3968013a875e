"""When everything happens, what it leaves and what it costs: pure functions of a resolved spec."""

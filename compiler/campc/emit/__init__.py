"""What a plan is turned into: JSON, text, scripts, and the bundle of them."""

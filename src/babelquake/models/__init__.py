"""The small trained models that ship, what loads them, and the recipes that made them."""

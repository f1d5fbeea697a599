"""Reading and updating applications' accessibility trees."""

"""A web application for current and past runs."""

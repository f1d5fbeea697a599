"""A web application for runs that go on and runs that are over."""

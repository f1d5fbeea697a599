"""From the description of an element to the elements on the screen that it may mean."""

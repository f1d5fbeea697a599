"""What a person does with mouse and keyboard."""

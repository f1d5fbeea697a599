"""Manager, Worker, reflector and self-evaluator."""

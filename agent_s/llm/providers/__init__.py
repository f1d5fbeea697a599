"""Model providers with an HTTP API."""

"""The database: schema, transactions, trust and forgetting."""

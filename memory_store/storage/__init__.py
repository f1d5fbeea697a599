"""The database: schema, transactions, trust, forgetting, transfer and salvage."""

"""What all benchmarks share: servers and clients, bare peers, rounds, texts, and the table."""

"""What gRPC alone has. What it shares with REST is proved in `tests/behaviour`, over both."""

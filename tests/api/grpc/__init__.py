"""What gRPC alone has. What it shares with REST is proved over both surfaces."""

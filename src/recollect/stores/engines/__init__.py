"""What differs between the engines, and nothing else."""

"""Real processes under load, killed and stopped: what was acknowledged is there afterwards."""

"""Bearer tokens: signing, verifying, claims, the keys of an issuer."""

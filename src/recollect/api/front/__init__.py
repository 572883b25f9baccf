"""The pages that the server shows to people and to coding agents: `/`, `/docs`, `/llms.txt`."""

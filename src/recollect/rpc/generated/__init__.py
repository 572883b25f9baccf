"""Made by `make generate` from contracts/proto; never edited by hand."""

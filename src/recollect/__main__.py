"""`python -m recollect`: runs the command where its script is not on the path."""

from recollect.cli.main import run

if __name__ == "__main__":
    run()

"""The face of the client that waits with `await`. Its twin without `await` is made from it."""

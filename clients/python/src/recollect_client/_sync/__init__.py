# Written by the code generator from `_async/__init__.py`: change that file instead.
"""The face of the client that waits with `await`. Its twin without `await` is made from it."""

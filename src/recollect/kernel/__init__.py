"""Code that every package uses: ids, errors, the clock, spaces, pages, retention rules.

Nothing here knows the database, the web or any subject. Standard library only.
"""

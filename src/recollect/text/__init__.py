"""Text as the server reads it: normal forms, tokens, stems, word frequencies, English dates.

Pure functions, standard library only.
"""

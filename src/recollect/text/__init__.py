"""Text processing: normal forms, tokens, stems, word frequencies, English dates.

Pure functions, standard library only.
"""

"""One memory on its way in: parsed, screened, placed, compared, stored."""

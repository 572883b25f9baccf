"""Storage. The only code that imports SQLAlchemy and the database drivers."""

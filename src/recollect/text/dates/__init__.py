"""English expressions of time: calendars, durations, phrases and the instants they mean."""

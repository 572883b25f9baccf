"""How long memories live: policies, cleanup, quotas, approvals, quarantine, backups."""

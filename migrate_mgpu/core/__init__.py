"""What every room shares: records, findings, the registry of rewriters, which rules are on."""

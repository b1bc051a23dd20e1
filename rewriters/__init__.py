"""The rewriters, one module each; installed as ``migrate_mgpu.rewriters``."""

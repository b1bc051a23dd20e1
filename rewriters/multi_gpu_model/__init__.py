"""Models that were copied to several GPUs."""

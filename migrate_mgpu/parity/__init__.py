"""Run two programs, each in its own runtime, and compare what they did.

From the inside out: ``probe`` records, in the program's own interpreter; ``runs`` starts
programs under it; ``compare`` has the ladder of what may differ; ``diagnose`` finds causes;
``reports`` shows. What lies here makes a comparison of them.
"""

"""Programs over the files of a run, started as ``python -m simpler_setup.tools.NAME``."""

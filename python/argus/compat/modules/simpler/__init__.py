"""The names of the reference's package ``simpler``, answered by Argus."""


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)

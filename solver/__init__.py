"""zetafp: stationary laws of log decay rates under drift, diffusion and tempered stable jumps."""

__version__ = "0.1.0"

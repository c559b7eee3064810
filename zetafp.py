"""The public names of the package `solver` under the name of the distribution: `import zetafp`."""

from solver import *  # noqa: F403
from solver import __all__ as __all__
from solver import __version__ as __version__

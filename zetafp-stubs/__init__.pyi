# Types of `import zetafp`: a single module cannot carry py.typed, a stub package beside it can (PEP 561).
from solver import *  # noqa: F403
from solver import __all__ as __all__
from solver import __version__ as __version__

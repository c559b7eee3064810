"""From the time scales a network showed while it trained to the model they would follow, and to what it predicts.

    read_run → calibrate → solve → compare

Nothing here is imported by the rest of `validation`, except by the verb `calibrate`.
"""

from __future__ import annotations

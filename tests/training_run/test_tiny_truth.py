"""From random weights to the truth about 3x3: Black owns the whole board, beginning in the centre.

With a komi of 8.5 Black therefore wins, and with 9.5 White does.
"""

from __future__ import annotations


"""The GTP front end: Tengen in Sabaki, Lizzie, q5Go, GoGui, on OGS, CGOS and KGS.

This package is light to import: the game, the search and the network load in the background.
"""

from __future__ import annotations

from tengen.frontends.gtp.options import GtpOptions as GtpOptions
from tengen.frontends.gtp.run import run_gtp as run_gtp

"""``python -m tengen`` is ``tengen``."""

from tengen.frontends.cli import main

main()

"""``python -m tengen`` is ``tengen``."""

from tengen.cli import main

main()

"""The command `tengen`; ``python -m tengen`` is the same."""

# Python's own handler answers Ctrl-C with a traceback, so it goes before anything is loaded: the
# module under `signal` is built into Python, `signal` itself takes milliseconds.
import _signal  # type: ignore[import-not-found]

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from tengen.interrupt import end_silently

end_silently()  # what follows takes a while to load


def main() -> None:
    """Run the command line."""
    from tengen.frontends.cli import main as run

    try:
        run()
    finally:
        end_silently()


if __name__ == "__main__":
    main()

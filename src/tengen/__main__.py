"""The command `tengen`; ``python -m tengen`` is the same."""

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

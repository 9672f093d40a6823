"""Networks: what they are, how they are stored, and how they are run."""

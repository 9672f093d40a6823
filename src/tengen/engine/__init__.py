"""The engine: one network, many searches, whoever asks for them."""

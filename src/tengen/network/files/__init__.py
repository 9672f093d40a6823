"""Network files: Tengen's format, KataGo's, and the bundled networks.

- loading: files of any kind, recognised by their content
- tengen_format: Tengen's format, safetensors with a header
- katago_format: the layout of KataGo's files, walked for reading and for writing
- katago_tokens: words, numbers and arrays of these files
- katago_export: networks made ready for KataGo's format
- katago_older: KataGo's older versions brought up to date
- library: the user's own networks, kept by name
- bundled: the networks that come with the package, and the choice among them
- errors: NetworkFileError, and files that are no networks
"""

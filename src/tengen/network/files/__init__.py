"""Network files: Tengen's format, KataGo's, and the bundled network.

- loading: files of any kind, recognised by their content
- tengen_format: Tengen's format, safetensors with a header
- katago_format: KataGo's format as dataclasses, read and written
- katago_import, katago_export: between KataGo's parts and Tengen's data
- katago_older: KataGo's older versions brought up to date
- bundled: the network that comes with the package, tengen-9x9.safetensors
- errors: NetworkFileError, and files that are no networks
"""

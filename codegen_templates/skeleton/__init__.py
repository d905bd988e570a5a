"""What an exported file has besides the generated code: its self-test.

The functions of these modules are copied into the file as they stand.
"""

"""The self-test of an exported file, beside the generated code.

The functions of these modules are copied into the file unchanged.
"""

"""Models of textreg for programs without it."""

from textreg_export.description import describe, export
from textreg_export.formats import JavaScriptExporter, JsonExporter, PythonExporter

__all__ = ["JavaScriptExporter", "JsonExporter", "PythonExporter", "describe", "export"]

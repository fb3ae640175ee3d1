"""Models as files that other programs can use."""

from __future__ import annotations

import json
from importlib import resources

from textreg.hookspecs import hookimpl
from textreg.kinds import Exporter
from textreg.records.plain_model import PlainModel

HEAD = '''

_PREDICTOR = Predictor(
    json.loads(
        r"""@MODEL@"""
    )
)
labels = _PREDICTOR.labels
scores = _PREDICTOR.scores
predict = _PREDICTOR.predict
probabilities = _PREDICTOR.probabilities
explain = _PREDICTOR.explain

if __name__ == "__main__":
    main(_PREDICTOR)
'''

MODULE = """
const model = @MODEL@;
const predictor = new @CLASS@;

/** The labels of the model; none of a regression. */
export const labels = predictor.labels;
/** The score of every label; of two that of the second. @param {Document} text */
export const scores = (text) => predictor.scores(text);
/** The label of a text; a list where it may have several. @param {Document} text */
export const predict = (text) => predictor.predict(text);
/** The probabilities of all labels. @param {Document} text */
export const probabilities = (text) => predictor.probabilities(text);
/** What words and sentences add. @param {Document} text @param {string} [of] the label */
export const explain = (text, of) => predictor.explain(text, of);
"""


def document(model: PlainModel) -> str:
    """The description of a model as JSON, in ASCII and safe inside of an HTML page."""
    text = json.dumps(model.to_dict(), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _runtime(file: str) -> str:
    return resources.files("textreg_export.runtime").joinpath(file).read_text(encoding="utf-8")


class JsonExporter(Exporter):
    """The description of the model as JSON, which is the base of all other formats.

    The page "Exporting models" says what it means.
    """

    name = "json"
    suffix = ".json"

    def export(self, model: PlainModel) -> bytes:
        """The document, on one line."""
        return (document(model) + "\n").encode()


class PythonExporter(Exporter):
    """One Python file that needs nothing but the standard library, of Python 3.10 or newer.

    It has ``predict(text)``, ``probabilities(text)``, ``scores(text)`` and ``explain(text)``; where
    documents have several fields, each is a dict of them.
    """

    name = "python"
    suffix = ".py"

    def export(self, model: PlainModel) -> bytes:
        """The code that predicts, and the description as JSON in it."""
        # No three quotation marks follow each other in JSON.
        return (_runtime("predictor.py") + HEAD.replace("@MODEL@", document(model))).encode()


class JavaScriptExporter(Exporter):
    """One ES module for browsers and Node 18 or newer, without dependencies, with types in JSDoc.

    It has ``predict(text)``, ``probabilities(text)``, ``scores(text)`` and ``explain(text)``; where
    documents have several fields, each is an object of them.
    """

    name = "javascript"
    suffix = ".mjs"

    def export(self, model: PlainModel) -> bytes:
        """The code that predicts, and the description as an object of it."""
        code, arguments, name = _runtime("predictor.mjs"), "model", "Predictor"
        if any(part.strip_html for part in model.parts):
            code += _runtime("html.mjs")
            arguments += ", new HtmlCharacters(model.characters)"
        if any(part.field or part.tokenizer not in ("words", "chars") for part in model.parts):
            code += _runtime("documents.mjs")
            name = "DocumentPredictor"
        module = MODULE.replace("@CLASS@", f"{name}({arguments})")
        return (code + module.replace("@MODEL@", document(model))).encode()


@hookimpl
def textreg_exporters() -> list[type[Exporter]]:
    """The exporters of this module."""
    return [JsonExporter, PythonExporter, JavaScriptExporter]

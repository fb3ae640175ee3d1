"""The exporter frozen-exporter, for textreg."""

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Exporter
from textreg.params import param
from textreg.records.plain_model import PlainModel


class FrozenExporter(Exporter):
    """A table of words and weights, as tabs and lines. Put your own format here."""

    name = "frozen-exporter"
    suffix = ".tsv"
    digits: int = param(default=17, min=1, max=17, help="significant digits of a weight")

    def export(self, model: PlainModel) -> bytes:
        """Every feature with its weight, after a line with the intercept."""
        if model.task not in ("binary", "regression"):
            raise UsageError(f"a table has one column of weights: {model.task} needs several.")
        if model.thresholds or model.calibration:
            raise UsageError("a table of weights has no thresholds and no calibration.")
        if model.fields or any(part.strip_html for part in model.parts):
            raise UsageError("a table of weights is of texts as they are: of no fields, nor HTML.")
        lines = [f"{model.task}\t{model.intercepts[0]:.{self.digits}g}", *model.labels]
        for part in model.parts:
            lines.append(f"{part.tokenizer}\t{part.term}\t{part.norm}\t{model.probabilities}")
            lines += [
                f"{name}\t{weight:.{self.digits}g}"
                for name, weight in zip(part.names, part.weights[0].tolist(), strict=True)
            ]
        return "".join(f"{line}\n" for line in lines).encode()


@hookimpl
def textreg_exporters() -> list[type[Exporter]]:
    """The exporters of this module."""
    return [FrozenExporter]

"""Pages of HTML taken apart, and text that attacks them."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = (
    "<script>document.title='taken'</script><img src=x onerror=alert(1)> \"quoted\" 'too' & "
    "</style></title>{{ 7 * 7 }} {% raw %} \u202egnp.exe\u2069 \x1b[2J \u200b&#x3C;b&#x3E;. Good."
)


class Page(HTMLParser):
    """What is on a page: elements with their attributes, and the text outside style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input"}:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag, "the page is not nested well"

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] not in {"style", "script"}:
            self.text += data

    def sections(self) -> list[str]:
        """What the navigation leads to."""
        ids = [found.get("id") for tag, found in self.elements if tag == "section"]
        return [name for name in ids if name is not None]

import fc from "fast-check";
import { h } from "preact";
import { describe, expect, it } from "vitest";
import { html, type Child, type View } from "../../../gateway/web/html.ts";
import { escapeHtml, renderPieces } from "../../../gateway/web/render.ts";
import { renderHtml } from "./render-html.ts";

/** As a parser of HTML reads character references. */
function unescape(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "</title><script>alert(1)</script>",
    '" onload="alert(1)',
    "<!--",
    "]]>",
    "&lt;",
    "${x}",
    "javascript:alert(1)",
    "<\u0000b>",
  ),
);

describe("a template", () => {
  it("shows any text as that text, in elements and in attributes, and nothing of it is markup", () => {
    fc.assert(
      fc.property(hostile, hostile, (text, attribute) => {
        const written = renderHtml(html`<p title=${attribute}>${text}</p>`);
        const match = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(written);
        expect(match).not.toBeNull();
        expect([unescape(match?.[1] ?? ""), unescape(match?.[2] ?? "")]).toEqual([attribute, text]);
      }),
    );
  });

  it("shows text in spread attributes and lists just as safely", () => {
    fc.assert(
      fc.property(fc.array(hostile), hostile, (texts, value) => {
        const written = renderHtml(
          html`<ul ...${{ "data-x": value }}>${texts.map((text) => html`<li>${text}</li>`)}</ul>`,
        );
        expect([...written.matchAll(/<(?!\/?(?:ul|li)\b)/g)]).toEqual([]);
        expect(
          [...written.matchAll(/<li>([^<]*)<\/li>/g)].map((match) => unescape(match[1] ?? "")),
        ).toEqual(texts);
      }),
    );
  });

  it("leaves out what is undefined, null or a boolean, and writes zero", () => {
    expect(renderHtml(html`<p>${undefined}${null}${false}${true}${0}${[1, [2]]}</p>`)).toBe(
      "<p>012</p>",
    );
  });

  it("writes booleans as a browser's framework does: bare, left out, or spelled where the attribute has words", () => {
    expect(
      renderHtml(
        html`<input hidden=${true} disabled=${false} title=${undefined} aria-hidden=${true} aria-busy=${false} data-x=${true} key="1" />`,
      ),
    ).toBe('<input hidden aria-hidden="true" aria-busy="false" data-x="true">');
  });

  it("takes nothing that is not a view for one, however much it looks like one", () => {
    const forged = JSON.parse('{"type":"img","props":{"src":"x"},"key":null}') as Child;
    expect(() => renderHtml(html`<p>${forged}</p>`)).toThrow("a part of a template is text");
  });

  it.each([
    ["a handler", h("a", { onClick: () => undefined })],
    ["a handler as text", h("a", { onclick: "alert(1)" } as object)],
    ["raw markup", h("p", { dangerouslySetInnerHTML: { __html: "<b>" } })],
    ["an inline style", h("p", { style: "color:red" })],
    ["an inline script", h("script", {}, "alert(1)")],
    ["an inline sheet", h("style", {}, "p{}")],
    ["a document in an attribute", h("iframe", { srcdoc: "<b>" } as object)],
    ["an attribute's name from data", h("p", { 'x"><b': "1" } as object)],
    ["a component", h(() => html`<p></p>`, {})],
  ])("refuses %s", (_what, view) => {
    expect(() => renderHtml(view as View)).toThrow("assertion failed");
  });

  it("refuses a view that is nested without end", () => {
    let view = html`<p>x</p>`;
    for (let depth = 0; depth < 400; depth += 1) view = html`<p>${view}</p>`;
    expect(() => renderHtml(view)).toThrow("without end");
  });
});

describe("escaping", () => {
  it("leaves plain text as it is", () => {
    expect(escapeHtml("plain – text")).toBe("plain – text");
  });
});

describe("a page in pieces", () => {
  it("is the same page, cut where a part is made later, which is made only then", () => {
    const made: string[] = [];
    const part = (name: string) => () => {
      made.push(name);
      return html`<p>${name} & co</p>`;
    };
    const view = html`<main><h1>Head</h1>${part("one")}<hr />${part("two")}</main>`;
    const pieces: string[] = [];
    for (const piece of renderPieces(view)) {
      pieces.push(piece);
      if (pieces.length === 1) expect(made).toEqual([]);
    }
    expect(pieces[0]).toBe("<main><h1>Head</h1>");
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe(
      "<main><h1>Head</h1><p>one &amp; co</p><hr><p>two &amp; co</p></main>",
    );
    expect(renderHtml(view)).toBe(pieces.join(""));
  });
});

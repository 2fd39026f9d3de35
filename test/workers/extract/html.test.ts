import { describe, expect, it } from "vitest";
import { textOf } from "./extracting.ts";

const page = (body: string): string => `<!doctype html><body>${body}</body>`;
const xhtml = (body: string): string =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`;
const wordsOf = (text: string): string[] => text.split(/\s+/);

describe("a table of HTML", () => {
  it("gives each cell after the other, its caption and heads too", async () => {
    const first = "the first cell holds a long sentence that a grid would wrap at sixty characters";
    const second = "the second cell holds another one that a grid would set beside the first";
    const inner = "<table><tr><td>in</td><td>ner</td></tr></table>";
    const table = `before<table><caption>Cap</caption><tr><th>Left<th>Right<tr><td>${first}</td><td>${second}</td></tr><tr><td colspan=2>${inner}</td></tr></table>after`;
    const { text } = await textOf("a.html", page(table));
    const words = `before Cap Left Right ${first} ${second} in ner after`;
    expect(wordsOf(text)).toEqual(words.split(" "));
  });

  it("is whole while its cells hold less than a document keeps, however many and wide", async () => {
    const rows = Array.from(
      { length: 3_000 },
      (_, row) =>
        `<tr>${Array.from({ length: 8 }, (__, cell) => `<td>r${row}c${cell}</td>`).join("")}</tr>`,
    );
    rows[7] = `<tr><td>https://example.org/${"a".repeat(1_000)}</td></tr>`;
    const text = await textOf("a.html", page(`<table>${rows.join("")}</table>`));
    expect(text).toMatchObject({ truncated: false, notes: [] });
    expect(text.text.endsWith("\nr2999c7")).toBe(true);
  });

  it("takes time and memory in proportion to its size, whatever its cells claim to span", async () => {
    const rows = "<tr><td colspan=100000 rowspan=100000>x</td></tr>".repeat(50_000);
    expect((await textOf("a.html", page(`<table>${rows}</table>`))).text.length).toBe(99_999);
  });
});

describe("a table of HTML with empty cells", () => {
  const row = (...cells: string[]): string =>
    page(`<table><tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</table>`);

  it("before others is a copy of the same bytes only, since the text has no columns", async () => {
    const debit = await textOf("a.html", row("Rent", "901.00", ""));
    const credit = await textOf("a.html", row("Rent", " <br>", "901.00"));
    expect(wordsOf(credit.text.trim())).toEqual(wordsOf(debit.text.trim()));
    expect([debit.beyond, typeof credit.beyond]).toEqual([undefined, "string"]);
  });

  it("that hold pictures or set two columns apart says all", async () => {
    for (const html of [row("<img src=a>", "Rent", "901.00"), row("", "Rent")])
      expect((await textOf("a.html", html)).beyond).toBeUndefined();
  });
});

describe("HTML", () => {
  it("has what is filled into its fields, not what is hidden or labels a button", async () => {
    const form =
      'Sum <input value="12"><input type=Number value=13><textarea>14</textarea><input type=hidden value=no><input type=password value=no><input type=submit value=no><input>';
    expect(wordsOf((await textOf("a.html", page(form))).text)).toEqual(["Sum", "12", "13", "14"]);
  });

  it("says which boxes and options are chosen", async () => {
    const form =
      "<input type=checkbox checked>a<input type=checkbox>b<input type=radio checked=checked>c<select><option>d<option selected>e</select>";
    expect(wordsOf((await textOf("a.html", page(form))).text)).toEqual("☒ ab ☒ c d ☒ e".split(" "));
  });

  it("keeps the words of neighbouring elements apart", async () => {
    const body =
      "<dl><dt>term</dt><dd>meaning</dd></dl><select><option>one</option><option>two</option></select><figure><figcaption>caption</figcaption></figure><details><summary>short</summary>long</details>";
    expect(wordsOf((await textOf("a.html", page(body))).text)).toEqual(
      "term meaning one two caption short long".split(" "),
    );
  });

  it("has lists with their numbers and marks, not indented however deep they are", async () => {
    const lists =
      "<ol start=3><li>three<li>four<ul>\n<li>deep<br>and on</li>\n<li><p>more</p></ul>beside</ol><ol start=1e400><li>one</ol>";
    const { text } = await textOf("a.html", page(lists));
    expect(text.split(/\n+/)).toEqual(
      ["3. three", "4. four", "* deep", "and on", "* ", "more", "beside", "1. one"].map((line) =>
        line.trim(),
      ),
    );
    const nested = page(`${"<ol start=-1.7e308><li>".repeat(95)}${"a<br>".repeat(1_000)}`);
    expect((await textOf("a.html", nested)).text.length).toBeLessThan(3_000);
  });

  it("has what stands outside of its body, where a browser shows it, but nothing of its head", async () => {
    const head =
      "<head><title>no title</title><style>no {}</style><script>no()</script><xml><o:dpi>96</o:dpi></xml></head>";
    for (const html of [
      `<!doctype html><html>${head}<body>one</body><p>two</p></html><p>three</p>`,
      `<!doctype html><p>one</p><html>${head}<body>two</body></html>three`,
      `<!doctype html>${head}<p>one</p><p>two</p>three`,
      `<html><title>no title</title><body>one</body><body>two</body><p>three</p></html>`,
    ])
      expect(wordsOf((await textOf("a.html", html)).text)).toEqual(["one", "two", "three"]);
    const outside = xhtml("<p>one</p>").replace(
      "</html>",
      "<p>two</p><svg><title>three</title></svg></html>",
    );
    expect(wordsOf((await textOf("a.xhtml", outside)).text)).toEqual(["one", "two", "three"]);
  });

  it("has no marks of quotations in its lines", async () => {
    const quoted = page("<blockquote>one<br>two<blockquote>three</blockquote></blockquote>");
    expect(wordsOf((await textOf("a.html", quoted)).text)).toEqual(["one", "two", "three"]);
  });
});

describe("XHTML", () => {
  it("ends an empty element where it stands", async () => {
    const anchors = Array.from({ length: 300 }, (_, at) => `<a id="p${at}"/><p>page ${at}</p>`);
    const body = `<p>one</p><script src="x.js"/><p>two<br/>three</p>${anchors.join("")}`;
    for (const [name, html] of [
      ["a.xhtml", xhtml(body)],
      ["a.html", xhtml(body).replace(/^.*?\?>/, "<!doctype html>")],
    ] as const) {
      const text = await textOf(name, html);
      expect(text).toMatchObject({ truncated: false, notes: [], title: "a" });
      expect(wordsOf(text.text).slice(0, 5)).toEqual(["one", "two", "three", "page", "0"]);
      expect(text.text.endsWith("page 299")).toBe(true);
    }
  });

  it("has the text of its CDATA sections", async () => {
    const body = "<p>a <![CDATA[<b> & c]]> d</p><script><![CDATA[x < y]]></script><p>e<![CDATA[f";
    expect(wordsOf((await textOf("a.xhtml", xhtml(body))).text.slice(0, 11))).toEqual(
      "a <b> & c d".split(" "),
    );
  });

  it("takes time in proportion to its size, however damaged", async () => {
    const damages = ["<a ", '<a "', `<a '"`, "<a/", "<aaaa", "<![CDATA[", "a<br", "<title "];
    for (const damage of damages) {
      const many = damage.repeat(Math.ceil(1_000_000 / damage.length));
      await textOf("a.xhtml", xhtml(`<p>words</p></body>${many}`));
    }
    const long = `<p>words</p><${"a".repeat(1_000_000)} ${"b".repeat(1_000_000)}>`;
    expect((await textOf("a.xhtml", xhtml(long))).text).toContain("words");
  });

  it("alone is read by its rules: HTML goes on inside of what a slash seems to end", async () => {
    const html = page("<p>a<script src=x/>not shown</script><a href=/b/>c</a></p>");
    expect(wordsOf((await textOf("a.html", html)).text)).toEqual(["ac"]);
  });
});

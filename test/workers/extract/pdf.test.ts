import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pdf } from "../../support/documents.ts";
import { itemsOf, refusalOf, textOf } from "./extracting.ts";

const field = (entries: string): string =>
  `<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] ${entries} >>`;
const button = (entries: string, choice: string): string =>
  field(`/FT /Btn ${entries} /AP << /N << /${choice} 4 0 R /Off 4 0 R >> >>`);

/** A PDF of one page with these embedded files, which `entries` of its catalog may show first. */
function pdfWithFiles(
  text: string,
  files: readonly (readonly [name: string, content: string, dictionary?: string])[],
  entries = "",
): Uint8Array {
  const stream = (content: string, dictionary = ""): string =>
    `<< /Length ${content.length} ${dictionary} >>\nstream\n${content}\nendstream`;
  const names = files.map(([name], at) => `(${at}) << /F (${name}) /EF << /F ${6 + at} 0 R >> >>`);
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${entries} /Names << /EmbeddedFiles << /Names [${names.join(" ")}] >> >> >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    stream(`BT /F1 12 Tf 72 700 Td (${text}) Tj ET`),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...files.map(([, content, dictionary]) => stream(content, dictionary)),
  ];
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  return Buffer.from(`%PDF-1.7\n${body.join("")}trailer << /Root 1 0 R >>\n%%EOF\n`, "latin1");
}

/** A font that names its glyphs by numbers, in the order of their codes. */
function numberedFont(first: number, count: number): string {
  const names = Array.from({ length: count }, (_, at) => `/glyph${at}`).join(" ");
  return `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 800] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar ${first} /LastChar ${first + count - 1} /Widths [${"600 ".repeat(count)}] /Encoding << /Type /Encoding /Differences [${first} ${names}] >> /CharProcs << >> >>`;
}

/** A page of a text whose codes are numbered from `first` in the order of their first use. */
function numberedPage(
  text: string,
  first: number,
): { readonly dictionary: string; readonly stream: Uint8Array } {
  const order = [...new Set(text)];
  const codes = Array.from(text, (character) => first + order.indexOf(character));
  const hex = Buffer.from(codes).toString("hex");
  return { dictionary: "", stream: Buffer.from(`BT /F1 12 Tf 72 700 Td <${hex}> Tj ET`) };
}

describe("a PDF", () => {
  it("gives the text of its pages, with its title and date", async () => {
    const text = await textOf(
      "a.pdf",
      pdf(["Hello (world)\nsecond line", "page two"], { title: "A Title" }),
    );
    expect(text.text).toBe("Hello (world)\nsecond line\npage two");
    expect(text).toMatchObject({
      title: "A Title",
      createdDate: "2024-02-29T12:00:00+01:00",
      truncated: false,
    });
  });

  it("is recognised by its content, also behind a few other bytes", async () => {
    const bytes = pdf(["words"]);
    expect(await textOf("scan-7", bytes)).toMatchObject({ text: "words", title: "scan-7" });
    expect((await textOf("a.txt", bytes)).text).toBe("words");
    const behind = Buffer.concat([Buffer.from("\n\n"), bytes]);
    expect((await textOf("a.pdf", behind)).text).toBe("words");
  });

  it("has the values of its form and its free texts behind the text of the page", async () => {
    const text = await textOf(
      "a.pdf",
      pdf(["Application", "page two"], {
        annotations: [
          field("/FT /Tx /T (name) /V (Ann Author)"),
          field("/FT /Tx /T (empty) /V ()"),
          field("/FT /Tx /T (hidden) /V (not shown) /F 2"),
          field("/FT /Tx /T (unseen) /V (not shown) /F 32"),
          field(`/FT /Tx /T (pin) /Ff ${2 ** 13} /V (1234)`),
          field("/FT /Ch /T (country) /Opt [[(de) (Germany)] [(fr) (France)]] /V (fr)"),
          button("/T (member) /V /Yes /AS /Yes", "Yes"),
          button("/T (guest) /V /Off /AS /Off", "Yes"),
          button(`/T (size) /Ff ${2 ** 15} /V /large /AS /large`, "large"),
          button(`/T (size) /Ff ${2 ** 15} /V /large /AS /Off`, "small"),
          "<< /Type /Annot /Subtype /FreeText /Rect [0 0 9 9] /Contents (to be paid) >>",
          "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /Contents (a link) >>",
        ],
      }),
    );
    expect(text.text.split("\n")).toEqual([
      "Application",
      "to be paid",
      "name: Ann Author",
      "country: France",
      "member: Yes",
      "size: large",
      "page two",
    ]);
    expect(text.truncated).toBe(false);
  });

  it("keeps no more of its form than a document keeps", async () => {
    const annotations = Array.from({ length: 100 }, (_, at) =>
      field(`/FT /Tx /T (f${at}) /V (${"word ".repeat(20)})`),
    );
    const text = await textOf("a.pdf", pdf(["Form"], { annotations }), { units: 1_000 });
    expect([text.text.length, text.truncated]).toEqual([1_000, true]);
  });

  it("that is a scan with a note needs OCR: the note does not stand for it", async () => {
    const note = "<< /Type /Annot /Subtype /FreeText /Rect [0 0 9 9] /Contents (PAID) >>";
    expect(await refusalOf("a.pdf", pdf([""], { annotations: [note] }))).toMatch(/needs OCR/);
  });

  it("is refused when its content is in XFA, where its pages say the same in every form", async () => {
    const notice = ["Please wait... If this message is not eventually replaced"];
    const xfa = "/XFA [(template) (<template/>)] /Fields";
    expect(await refusalOf("a.pdf", pdf(notice, { form: `${xfa} []` }))).toBe(
      "XFA form: is an XFA form, whose content is not in its pages",
    );
    // With fields of its own, it can be read without XFA.
    const annotations = [field("/FT /Tx /T (name) /V (Ann Author)")];
    const text = await textOf(
      "a.pdf",
      pdf(["Form"], { form: `${xfa} [<< /FT /Tx /T (name) >>]`, annotations }),
    );
    expect(text.text).toBe("Form\nname: Ann Author");
  });

  it("without text says that it needs OCR, apart from failures", async () => {
    const drawing = { dictionary: "", stream: Buffer.from("0 0 m 100 100 l S") };
    expect(await refusalOf("a.pdf", pdf([drawing, ""]))).toBe(
      "no text layer (needs OCR): has no text layer and needs OCR",
    );
  });

  it("whose fonts need a character map that is not there does not pass for a scan", async () => {
    const font =
      "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >> >>] >>";
    const page = { dictionary: "", stream: Buffer.from("BT /F1 12 Tf 72 700 Td <96ea> Tj ET") };
    expect(await refusalOf("a.pdf", pdf([page], { font }))).toBe(
      "unreadable fonts: has text in fonts that need a character map (UniGB-UCS2-H) and do not bring it",
    );
  });

  it("that is a portfolio gives its files, and their names instead of its cover", async () => {
    const cover = "For the best experience, open this PDF portfolio in Acrobat X";
    const collection = "/Collection << /Type /Collection /View /D >>";
    const files = [
      ["a.txt", "contract with Ann"],
      ["../b/c.txt", "letter to Bob"],
      ["c.txt", "another letter"],
    ] as const;
    const items = await itemsOf("p.pdf", pdfWithFiles(cover, files, collection));
    expect(items).toMatchObject([
      { kind: "text", member: "a.txt", text: "contract with Ann" },
      { kind: "text", member: "c.txt", text: "letter to Bob" },
      { kind: "text", member: "3-c.txt", text: "another letter" },
      { kind: "text", member: "", text: "a.txt\nc.txt\nc.txt", beyond: expect.any(String) },
    ]);
  });

  it("that is a portfolio is read up to a number of files, and says how many are left", async () => {
    const files = Array.from({ length: 203 }, (_, at) => [`${at}.txt`, `text ${at}`] as const);
    const items = await itemsOf(
      "p.pdf",
      pdfWithFiles("cover", files, "/Collection << /View /D >>"),
    );
    expect(items).toHaveLength(201);
    expect(items.at(-1)).toMatchObject({ notes: ["3 of its files were not read"] });
  });

  it("that is a portfolio is read up to 64 MiB of files", async () => {
    const large = deflateSync(Buffer.alloc(40 * 2 ** 20, 32)).toString("latin1");
    const files = [
      ["a.txt", large, "/Filter /FlateDecode"],
      ["b.txt", large, "/Filter /FlateDecode"],
      ["c.txt", "small"],
    ] as const;
    const items = await itemsOf(
      "p.pdf",
      pdfWithFiles("cover", files, "/Collection << /View /D >>"),
    );
    expect(items.map(({ member }) => member)).toEqual(["a.txt", "c.txt", ""]);
  });

  it("that is a portfolio of files without content is not tried to its end", async () => {
    const files = Array.from({ length: 9 }, (_, at) => [`${at}.txt`, "x"] as const);
    const broken = Buffer.from(pdfWithFiles("cover", files, "/Collection << /View /D >>"))
      .toString("latin1")
      .replaceAll(/\/EF << \/F (?:6|7|8|9|10) 0 R >>/g, "");
    const items = await itemsOf("p.pdf", Buffer.from(broken, "latin1"));
    expect(items).toMatchObject([{ member: "", notes: ["9 of its files were not read"] }]);
  });

  it("with files beside its pages keeps their text, and is a copy of the same bytes only", async () => {
    const items = await itemsOf("a.pdf", pdfWithFiles("Invoice 12", [["factur-x.xml", "<a/>"]]));
    expect(items).toMatchObject([{ member: "", text: "Invoice 12", beyond: expect.any(String) }]);
    expect((await textOf("a.pdf", pdf(["Invoice 12"]))).beyond).toBeUndefined();
  });

  it("with a file attached to a page keeps its text, and is a copy of the same bytes only", async () => {
    const annotations = [
      "<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS << /F (a.txt) >> >>",
    ];
    const text = await textOf("a.pdf", pdf(["Letter", "page two"], { annotations }));
    expect([text.text, typeof text.beyond]).toEqual(["Letter\npage two", "string"]);
  });

  it("whose fonts do not say what they draw is refused when codes are most of its text", async () => {
    const text = "Invoice 12.00";
    expect(
      await refusalOf("a.pdf", pdf([numberedPage(text, 1)], { font: numberedFont(1, 20) })),
    ).toBe("unreadable fonts: has text in fonts that do not say which characters they draw");
  });

  it("with a few codes of such fonts is a copy of the same bytes only", async () => {
    const page = (hex: string) => ({
      dictionary: "",
      stream: Buffer.from(`BT /F1 12 Tf 72 700 Td <${hex}> Tj ET`),
    });
    const font =
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [1 /one-of-them /another] >> >>";
    const words = Buffer.from("some words").toString("hex");
    expect(await textOf("a.pdf", pdf([page(`${words}0102`)], { font }))).toMatchObject({
      text: "some words\u0001\u0002",
      beyond: expect.any(String),
    });
    expect((await textOf("a.pdf", pdf([page(words)], { font }))).beyond).toBeUndefined();
  });

  it("whose codes are printable and in the order of their first use is one too", async () => {
    const font = numberedFont(33, 40);
    const cipher = await textOf("a.pdf", pdf([numberedPage("Invoice 12.00", 33)], { font }));
    expect(cipher).toMatchObject({ text: `!"#$%&'()*+,,`, beyond: expect.any(String) });
    const numbers = pdf(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    expect((await textOf("a.pdf", numbers)).beyond).toBeUndefined();
  });

  it("with bullets of a symbol font is read as any other", async () => {
    const font =
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [128 /uniF0B7] >> >>";
    const stream = Buffer.from("BT /F1 12 Tf 72 700 Td (\\200 an item of a list) Tj ET");
    const text = await textOf("a.pdf", pdf([{ dictionary: "", stream }], { font }));
    expect(text.text).toBe("\uf0b7 an item of a list");
    expect(text.beyond).toBeUndefined();
  });

  it("is read up to what a document keeps, however many pages follow", async () => {
    const pages = Array<string>(2_000).fill("a page of a few words");
    const text = await textOf("a.pdf", pdf(pages), { units: 1_000 });
    expect([text.text.length, text.truncated]).toEqual([1_000, true]);
  });

  it("with a page that cannot be read to its end is no whole text, and says so", async () => {
    const packed = deflateSync(Buffer.from(`BT (${"two ".repeat(1_000)}) Tj ET`));
    const cut = packed.subarray(0, packed.byteLength / 2);
    const operators = "BT /F1 12 Tf 72 700 Td (two) Tj ET";
    const bomb = deflateSync(
      Buffer.concat([Buffer.from(operators), Buffer.alloc(70 * 2 ** 20, 32)]),
    );
    for (const stream of [cut, bomb]) {
      const page = { dictionary: "/Filter /FlateDecode", stream };
      const text = await textOf("a.pdf", pdf(["one", page, "three"]));
      expect(text).toMatchObject({
        truncated: true,
        notes: ["1 of its 3 pages could not be read"],
      });
      expect(text.text.split(/\s+/)).toEqual(expect.arrayContaining(["one", "three"]));
    }
  });

  it("with a page packed in an unknown way gives the other pages", async () => {
    const page = { dictionary: "/Filter /NoSuchFilter", stream: Buffer.from("x") };
    const { text } = await textOf("a.pdf", pdf(["one", page, "three"]));
    expect(text.split(/\s+/)).toEqual(["one", "three"]);
  });

  it("is refused when it needs a password or is no PDF inside", async () => {
    const trailer = `/ID [<${"00".repeat(16)}> <${"00".repeat(16)}>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`;
    expect(await refusalOf("a.pdf", pdf(["secret"], { trailer }))).toBe(
      "encrypted: is encrypted and needs a password",
    );
    expect(await refusalOf("a.pdf", Buffer.from("%PDF-1.7\n\x00\x01 nothing more"))).toBe(
      "broken PDF: cannot be read as PDF",
    );
  });

  it("is refused when a stream unpacks to more than a worker may hold, packed once or twice", async () => {
    const once = deflateSync(Buffer.alloc(100 * 2 ** 20, 32));
    const bombs = [
      { dictionary: "/Filter /FlateDecode", stream: once },
      { dictionary: "/Filter [/FlateDecode /FlateDecode]", stream: deflateSync(once) },
    ];
    for (const bomb of bombs)
      expect(await refusalOf("a.pdf", pdf([bomb]))).toBe(
        "broken PDF: has no page that can be read",
      );
  });
});

import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pdf } from "../../support/documents.ts";
import { refusalOf, textOf } from "./extracting.ts";

const field = (entries: string): string =>
  `<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] ${entries} >>`;
const button = (entries: string, choice: string): string =>
  field(`/FT /Btn ${entries} /AP << /N << /${choice} 4 0 R /Off 4 0 R >> >>`);

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

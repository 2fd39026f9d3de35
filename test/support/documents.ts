/** Small documents of many formats, made in the test that reads them. */
import { deflateSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";

/** A zip archive with these members, in this order. */
export function zip(members: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  return zipSync(
    Object.fromEntries(
      Object.entries(members).map(([name, content]) => [
        name,
        [
          typeof content === "string" ? strToU8(content) : content,
          { level: name === "mimetype" ? 0 : 6 },
        ],
      ]),
    ),
  );
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const CORE =
  'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"';

/** A Word document of these paragraphs; `body` is markup that stands before them. */
export function docx(
  paragraphs: readonly string[],
  { title = "", body = "", more = {} }: DocxOptions = {},
): Uint8Array {
  const texts = paragraphs.map(
    (text) => `<w:p><w:r><w:t xml:space="preserve">${escape(text)}</w:t></w:r></w:p>`,
  );
  return zip({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": "<Relationships/>",
    "word/document.xml": `<?xml version="1.0"?><w:document ${W}><w:body>${body}${texts.join("")}</w:body></w:document>`,
    "docProps/core.xml": `<cp ${CORE}><dc:title>${escape(title)}</dc:title><dcterms:created>2024-02-29T10:00:00Z</dcterms:created></cp>`,
    ...more,
  });
}

interface DocxOptions {
  readonly title?: string;
  readonly body?: string;
  readonly more?: Readonly<Record<string, string | Uint8Array>>;
}

/** An OpenDocument text of these paragraphs. */
export function odt(
  paragraphs: readonly string[],
  { body = "", more = {} }: Omit<DocxOptions, "title"> = {},
): Uint8Array {
  const texts = paragraphs.map((text) => `<text:p>${escape(text)}</text:p>`).join("");
  return zip({
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": `<office:document-content><office:body><office:text>${body}${texts}</office:text></office:body></office:document-content>`,
    "meta.xml":
      "<office:document-meta><dc:title>An ODT</dc:title><meta:creation-date>2024-03-01T10:00:00</meta:creation-date></office:document-meta>",
    "META-INF/manifest.xml": "<manifest:manifest/>",
    ...more,
  });
}

/** A book of these chapters, each of them HTML. */
export function epub(
  chapters: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Uint8Array {
  const files = chapters.map((html, at) => [`OEBPS/ch ${at}.xhtml`, html] as const);
  // The manifest lists them backwards: only the spine gives the order.
  const items = files.map((_, at) => `<item id="c${at}" href="ch%20${at}.xhtml"/>`).toReversed();
  return zip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml":
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    "OEBPS/book.opf": `<package><metadata><dc:title>A Book</dc:title><dc:creator>An Author</dc:creator></metadata><manifest>${items.join("")}</manifest><spine>${files.map((_, at) => `<itemref idref="c${at}"/>`).join("")}</spine></package>`,
    ...Object.fromEntries(files),
    ...more,
  });
}

/** What a page of a PDF draws: text, a stream as it is with its dictionary, or nothing. */
type PdfPage = string | { readonly dictionary: string; readonly stream: Uint8Array };

interface PdfOptions {
  readonly title?: string;
  /** Entries of the trailer, e.g. for encryption. */
  readonly trailer?: string;
  /** The font of all pages. */
  readonly font?: string;
  /** Annotations of the first page, e.g. the fields of a form. */
  readonly annotations?: readonly string[];
  /** Entries of the form of the whole document. */
  readonly form?: string;
}

const HELVETICA =
  "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/** A font that gives the widths of four billion characters. */
export const ENDLESS_WIDTHS =
  "<< /Type /Font /Subtype /Type0 /BaseFont /Wide /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Wide /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /Wide /Flags 4 >> /W [0 4000000000 500] >>] >>";

/** A PDF with a page for each of these. */
export function pdf(pages: readonly PdfPage[], options: PdfOptions = {}): Uint8Array {
  const first = 5;
  const kids = pages.map((_, at) => `${first + 2 * at} 0 R`).join(" ");
  const objects: Uint8Array[] = [
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << ${options.form ?? "/Fields []"} >> >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    options.font ?? HELVETICA,
    `<< /Title (${options.title ?? ""}) /CreationDate (D:20240229120000+01'00') >>`,
  ].map((text) => Buffer.from(text));
  for (const [at, page] of pages.entries()) {
    const { dictionary, stream } = typeof page === "string" ? textStream(page) : page;
    const annotations = at === 0 ? (options.annotations ?? []).join(" ") : "";
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${first + 2 * at + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> /Annots [${annotations}] >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.byteLength} ${dictionary} >>\nstream\n`),
        stream,
        Buffer.from("\nendstream"),
      ]),
    );
  }
  return assemble(objects, options.trailer ?? "");
}

function textStream(text: string): { dictionary: string; stream: Uint8Array } {
  const lines = text.split("\n").map((line) => `(${line.replaceAll(/[()\\]/g, "\\$&")}) Tj T*`);
  const drawn = text === "" ? "" : `BT /F1 12 Tf 14 TL 72 700 Td ${lines.join(" ")} ET`;
  return { dictionary: "/Filter /FlateDecode", stream: deflateSync(Buffer.from(drawn, "latin1")) };
}

function assemble(objects: readonly Uint8Array[], trailer: string): Uint8Array {
  const parts = [Buffer.from("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  const offsets: string[] = [];
  let length = parts[0]?.byteLength ?? 0;
  for (const [at, object] of objects.entries()) {
    offsets.push(String(length).padStart(10, "0"));
    const part = Buffer.concat([
      Buffer.from(`${at + 1} 0 obj\n`),
      object,
      Buffer.from("\nendobj\n"),
    ]);
    parts.push(part);
    length += part.byteLength;
  }
  parts.push(
    Buffer.from(
      `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${offset} 00000 n \n`).join("")}trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R /Info 4 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** A mail with a text and attachments by their names. */
export function mail(
  headers: Readonly<Record<string, string>>,
  text: string,
  attachments: readonly (readonly [name: string, content: Uint8Array])[] = [],
): Uint8Array {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const parts = attachments.map(([name, content]) =>
    [
      "--part",
      "Content-Type: application/octet-stream",
      `Content-Disposition: attachment; filename="${name}"`,
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from(content).toString("base64").replaceAll(/.{76}/g, "$&\r\n"),
    ].join("\r\n"),
  );
  return Buffer.from(
    [
      ...head,
      "MIME-Version: 1.0",
      'Content-Type: multipart/mixed; boundary="part"',
      "",
      "--part",
      "Content-Type: text/plain; charset=utf-8",
      "",
      text,
      ...parts,
      "--part--",
      "",
    ].join("\r\n"),
  );
}

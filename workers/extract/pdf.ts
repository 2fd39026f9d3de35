/** The text layer of a PDF, by pdf.js. */
import { getDocumentProxy } from "unpdf";
import { stopped } from "../control.ts";
import { withBoundedBuffers } from "./bounded-buffers.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extraction, Extractor } from "./extractor.ts";

/** The largest stream of a PDF as unpacked. */
const STREAM_BYTES = 64 * 1024 * 1024;

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

const options = {
  // Errors of a page are its own; warnings would go to the console.
  verbosity: 0,
  stopAtErrors: false,
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  useWorkerFetch: false,
} as const;

/** A PDF file, page after page until there is enough text. */
export const extract: Extractor = (bytes, extraction) =>
  withBoundedBuffers(STREAM_BYTES, async () => {
    const document = await open(bytes);
    try {
      return await read(document, extraction);
    } finally {
      await document.loadingTask.destroy();
    }
  });

async function open(bytes: Uint8Array): Promise<PdfDocument> {
  try {
    // pdf.js takes the bytes for its own.
    return await getDocumentProxy(new Uint8Array(bytes), options);
  } catch (error) {
    throw (error as Error).name === "PasswordException"
      ? new Refusal("encrypted", "is encrypted and needs a password")
      : new Refusal("broken PDF", "cannot be read as PDF");
  }
}

async function read(document: PdfDocument, extraction: Extraction): Promise<Extracted> {
  const { units } = extraction;
  const pages: string[] = [];
  let length = 0;
  let broken = 0;
  let number = 1;
  for (; number <= document.numPages && length <= units; number++) {
    if (extraction.cancelled()) throw stopped();
    try {
      const text = await readPage(document, number, units - length);
      pages.push(text);
      length += text.length;
    } catch {
      broken += 1;
    }
  }
  const text = pages.join("\n");
  if (text.trim() === "")
    throw broken > 0
      ? new Refusal("broken PDF", "has no page that can be read")
      : new Refusal("no text layer (needs OCR)", "has no text layer and needs OCR", false);
  return {
    text,
    // A text without some of its pages is no whole text.
    truncated: number <= document.numPages || broken > 0,
    ...(await propertiesOf(document)),
    notes: broken === 0 ? [] : [`${broken} of its ${document.numPages} pages could not be read`],
  };
}

async function readPage(document: PdfDocument, number: number, units: number): Promise<string> {
  const page = await document.getPage(number);
  const reader = page.streamTextContent().getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      for (const item of value.items)
        if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
      if (text.length > units) return text;
    }
  } finally {
    await reader.cancel(new Error("enough")).catch(() => undefined);
    page.cleanup();
  }
}

/** Broken properties are no reason to refuse a text. */
async function propertiesOf(document: PdfDocument): Promise<Partial<Extracted>> {
  try {
    const info = (await document.getMetadata()).info as Readonly<Record<string, unknown>>;
    const title = info["Title"];
    return {
      title: typeof title === "string" && title.trim() !== "" ? title : undefined,
      createdDate: dateOf(info["CreationDate"]),
    };
  } catch {
    return {};
  }
}

/** `D:20240229120000+01'00'` to ISO 8601. */
function dateOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const parts = /^D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?(?:(Z)|([+-]\d\d)'(\d\d))?/.exec(
    value,
  );
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, utc, hours, minutes] = parts;
  if (hour === undefined) return `${year}-${month}-${day}`;
  const zone = utc ?? (hours === undefined ? "" : `${hours}:${minutes}`);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
}

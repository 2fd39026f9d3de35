/** The text layer of a PDF, by pdf.js. */
import { getDocumentProxy } from "unpdf";
import { stopped } from "../control.ts";
import { withBoundedBuffers } from "./bounded-buffers.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extraction, Extractor } from "./extractor.ts";

/** The largest stream of a PDF as unpacked. */
const STREAM_BYTES = 64 * 1024 * 1024;
/** A file may claim any number of pages. */
const MAX_PAGES = 20_000;

/** Failures that pdf.js ignores without an error. */
interface Losses {
  /** Names of character maps that a font asks for and that are not there. */
  readonly maps: ReadonlySet<string>;
  /** How many buffers were refused so far. */
  readonly refused: () => number;
}

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
  withBoundedBuffers(STREAM_BYTES, async (refused) => {
    const maps = new Set<string>();
    const document = await open(bytes, maps);
    try {
      return await read(document, extraction, { maps, refused });
    } finally {
      await document.loadingTask.destroy();
    }
  });

/** `maps` receives the names of character maps that are not there. */
async function open(bytes: Uint8Array, maps: Set<string>): Promise<PdfDocument> {
  const BinaryDataFactory = class {
    fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): never {
      if (kind === "cMapUrl") maps.add(filename);
      throw new Error(`${filename} is not there`);
    }
  };
  try {
    // pdf.js takes the bytes for its own.
    return await getDocumentProxy(new Uint8Array(bytes), { ...options, BinaryDataFactory });
  } catch (error) {
    throw (error as Error).name === "PasswordException"
      ? new Refusal("encrypted", "is encrypted and needs a password")
      : new Refusal("broken PDF", "cannot be read as PDF");
  }
}

async function read(
  document: PdfDocument,
  extraction: Extraction,
  { maps, refused }: Losses,
): Promise<Extracted> {
  const { units } = extraction;
  const pages: string[] = [];
  let length = 0;
  let broken = 0;
  let number = 1;
  const last = Math.min(document.numPages, MAX_PAGES);
  for (; number <= last && length <= units; number++) {
    if (extraction.cancelled()) throw stopped();
    const refusedBefore = refused();
    try {
      const text = await readPage(document, number, units - length);
      pages.push(text);
      length += text.length;
      // Behind the first operators of a page, pdf.js takes an error for the end of the page.
      if (refused() > refusedBefore) broken += 1;
    } catch {
      broken += 1;
    }
  }
  const text = pages.join("\n");
  if (text.trim() === "") throw withoutText(broken, maps);
  return {
    text,
    // A text without some of its pages is no whole text.
    truncated: number <= document.numPages || broken > 0 || maps.size > 0,
    ...(await propertiesOf(document)),
    notes: [
      ...(broken === 0 ? [] : [`${broken} of its ${document.numPages} pages could not be read`]),
      ...(maps.size === 0 ? [] : ["some of its text is in fonts that cannot be read"]),
    ],
  };
}

function withoutText(broken: number, maps: ReadonlySet<string>): Refusal {
  const [map] = maps;
  if (map !== undefined)
    return new Refusal(
      "unreadable fonts",
      `has text in fonts that need a character map (${map.replace(/\.bcmap$/, "")}) and do not bring it`,
    );
  return broken > 0
    ? new Refusal("broken PDF", "has no page that can be read")
    : new Refusal("no text layer (needs OCR)", "has no text layer and needs OCR", false);
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

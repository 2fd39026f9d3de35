/** The text layer of a PDF, with what its form fields and notes say, by pdf.js. */
import { getDocumentProxy } from "unpdf";
import { stopped } from "../control.ts";
import { withBoundedBuffers } from "./bounded-buffers.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extraction, Extractor } from "./extractor.ts";
import { FontSigns } from "./pdf-fonts.ts";
import { embeddedNames, readMembers } from "./pdf-members.ts";

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
type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

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
      const info = await infoOf(document);
      refuseXfa(info);
      const losses = { maps, refused };
      return {
        ...(await readWithFiles(document, extraction, losses, info)),
        ...propertiesOf(info),
      };
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

/**
 * The pages of a form in XFA (XML Forms Architecture) alone say only that the viewer is too old,
 * the same words in all of them: read as text, different forms would be exact copies.
 */
function refuseXfa({ IsXFAPresent, IsAcroFormPresent }: DocumentInfo): void {
  if (IsXFAPresent === true && IsAcroFormPresent === false)
    throw new Refusal("XFA form", "is an XFA form, whose content is not in its pages");
}

/**
 * The files of a portfolio are members, and their names its text: its page is a notice to open it
 * elsewhere, the same in all of them. Files beside ordinary pages, e.g. the XML of an electronic
 * invoice, are not read.
 */
async function readWithFiles(
  document: PdfDocument,
  extraction: Extraction,
  losses: Losses,
  { IsCollectionPresent }: DocumentInfo,
): Promise<Extracted> {
  const names = await embeddedNames(document);
  const isPortfolio = IsCollectionPresent === true;
  if (!isPortfolio || names.size === 0) {
    const text = await read(document, extraction, losses);
    return names.size > 0 || isPortfolio ? { ...text, omits: true } : text;
  }
  const members = await readMembers(document, names, extraction);
  const list = [...names.values()].join("\n").toWellFormed();
  const pages = document.numPages > 1 ? await read(document, extraction, losses) : undefined;
  const left = names.size - members.length;
  return {
    text: pages === undefined ? list : `${pages.text}\n${list}`,
    truncated: pages?.truncated ?? false,
    omits: true,
    notes: [...(pages?.notes ?? []), ...(left === 0 ? [] : [`${left} of its files were not read`])],
    members,
  };
}

async function read(
  document: PdfDocument,
  extraction: Extraction,
  { maps, refused }: Losses,
): Promise<Extracted> {
  const { units } = extraction;
  const pages: string[] = [];
  let length = 0;
  let hasTextLayer = false;
  let attaches = false;
  const fonts = new FontSigns();
  let broken = 0;
  let number = 1;
  const last = Math.min(document.numPages, MAX_PAGES);
  for (; number <= last && length <= units; number++) {
    if (extraction.cancelled()) throw stopped();
    const refusedBefore = refused();
    try {
      for await (const piece of readPage(document, number, units - length, fonts)) {
        const { text, drawn } = piece;
        if (drawn || text !== "") pages.push(text);
        length += text.length;
        hasTextLayer ||= drawn && text.trim() !== "";
        attaches ||= piece.attaches === true;
      }
      // Behind the first operators of a page, pdf.js takes an error for the end of the page.
      if (refused() > refusedBefore) broken += 1;
    } catch {
      broken += 1;
    }
  }
  // Notes and fields alone do not stand for a scan: many scans have the same ones.
  if (!hasTextLayer) throw withoutText(broken, maps);
  if (fonts.areMost) throw withoutCharacters();
  return {
    text: pages.join("\n"),
    // A text without some of its pages is no whole text.
    truncated: number <= document.numPages || broken > 0 || maps.size > 0,
    omits: attaches || fonts.areSome,
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

function withoutCharacters(): Refusal {
  return new Refusal(
    "unreadable fonts",
    "has text in fonts that do not say which characters they draw",
  );
}

interface PageText {
  readonly text: string;
  /** Drawn by the page itself, and not of a field or note. */
  readonly drawn: boolean;
  /** A file is attached to the page. */
  readonly attaches?: boolean;
}

/** The text of a page, then that of its fields and notes, if any. */
async function* readPage(
  document: PdfDocument,
  number: number,
  units: number,
  fonts: FontSigns,
): AsyncGenerator<PageText> {
  const page = await document.getPage(number);
  try {
    const text = await readDrawn(page, units, fonts);
    yield { text, drawn: true };
    if (text.length > units) return;
    const { entries, attaches } = await readEntries(page, units - text.length);
    if (entries !== "" || attaches) yield { text: entries, drawn: false, attaches };
  } finally {
    page.cleanup();
  }
}

async function readDrawn(page: PdfPage, units: number, fonts: FontSigns): Promise<string> {
  const reader = page.streamTextContent().getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      for (const item of value.items) {
        if (!("str" in item)) continue;
        fonts.add(item.str, item.fontName);
        text += item.hasEOL ? `${item.str}\n` : item.str;
      }
      if (text.length > units) return text;
    }
  } finally {
    await reader.cancel(new Error("enough")).catch(() => undefined);
  }
}

interface Entries {
  /** A line for each field that is filled in and each free text that are shown. */
  readonly entries: string;
  readonly attaches: boolean;
}

async function readEntries(page: PdfPage, units: number): Promise<Entries> {
  let entries = "";
  let attaches = false;
  for (const annotation of (await page.getAnnotations()) as Annotation[]) {
    attaches ||= annotation.subtype === "FileAttachment";
    const entry = entryOf(annotation);
    if (entry !== "") entries += entries === "" ? entry : `\n${entry}`;
    if (entries.length > units) break;
  }
  return { entries, attaches };
}

/** The members of a pdf.js annotation that are read; pdf.js types it as `any`. */
interface Annotation {
  readonly subtype?: string;
  readonly annotationFlags?: number;
  readonly contentsObj?: { readonly str: string };
  readonly fieldType?: string | null;
  readonly fieldName?: string;
  /** Of a check box or radio button: the choice of its whole group. */
  readonly fieldValue?: string | readonly string[] | null;
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  /** The choice that a check box stands for. */
  readonly exportValue?: string;
  /** The choice that a radio button stands for. */
  readonly buttonValue?: string | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
}

/** Flags of ISO 32000-1, table 165: Hidden and NoView. */
const NOT_SHOWN = 2 | 32;

/** A value has the name of its field: the same value in another field is another text. */
function entryOf(annotation: Annotation): string {
  const { subtype, annotationFlags = 0, contentsObj, fieldName = "" } = annotation;
  if ((annotationFlags & NOT_SHOWN) !== 0) return "";
  if (subtype === "FreeText") return (contentsObj?.str ?? "").trim();
  const value = valueOf(annotation).trim();
  return value === "" ? "" : `${fieldName}: ${value}`.toWellFormed();
}

function valueOf(field: Annotation): string {
  const { fieldType, fieldValue, options = [] } = field;
  const values = typeof fieldValue === "string" ? [fieldValue] : (fieldValue ?? []);
  switch (fieldType) {
    case "Tx":
      return field.password === true ? "" : values.join("\n");
    case "Ch":
      return values
        .map((value) => options.find((each) => each.exportValue === value)?.displayValue ?? value)
        .join(", ");
    case "Btn":
      return isOn(field) ? values.join(", ") : "";
    default:
      return "";
  }
}

function isOn({ checkBox, radioButton, fieldValue, exportValue, buttonValue }: Annotation) {
  if (fieldValue === "Off") return false;
  if (checkBox === true) return fieldValue === exportValue;
  return radioButton === true && fieldValue === buttonValue;
}

function propertiesOf({ Title, CreationDate }: DocumentInfo): Partial<Extracted> {
  return {
    title: typeof Title === "string" && Title.trim() !== "" ? Title : undefined,
    createdDate: dateOf(CreationDate),
  };
}

/** The members of a pdf.js document information that are read; pdf.js types it as `Object`. */
interface DocumentInfo {
  readonly Title?: unknown;
  readonly CreationDate?: unknown;
  readonly IsXFAPresent?: boolean;
  /** It has fields besides those of XFA. */
  readonly IsAcroFormPresent?: boolean;
  /** It is a portfolio, also called collection. */
  readonly IsCollectionPresent?: boolean;
}

/** Broken properties are no reason to refuse a text. */
async function infoOf(document: PdfDocument): Promise<DocumentInfo> {
  try {
    return (await document.getMetadata()).info;
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

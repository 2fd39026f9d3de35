/**
 * The kinds of files that are read: how each is recognised, what bounds it, and the module that
 * extracts its text. A new kind is a row here and a file beside this one.
 */
import type { Extractor } from "./extractor.ts";

/** One kind of file. */
interface Format {
  /** As people write it. */
  readonly label: string;
  /** Endings of names that have it, in lower case. */
  readonly endings: readonly string[];
  /** Bytes at the very beginning of each such file, as Latin-1. */
  readonly magic?: string;
  /** The largest file that is read, in bytes. */
  readonly limitBytes: number;
  /** Of a larger file only this many bytes are read, since what follows would be cut off anyway. */
  readonly headBytes?: number;
  /** How long one file may hold a thread. */
  readonly deadlineMs: number;
  /** Reading costs little and cannot hang: many such files share a task. */
  readonly cheap?: true;
  /**
   * Often holds other files, which take part in its deadline: when it cannot be read, it may be
   * without them.
   */
  readonly holdsFiles?: true;
  /** Loads the extractor, and its libraries, when first needed. */
  readonly load: () => Promise<Extractor>;
}

const MIB = 1024 * 1024;
const FILE = { limitBytes: 64 * MIB, deadlineMs: 30_000 };
/** Four bytes are the most that a unit of text takes. */
const TEXT = { ...FILE, headBytes: 2 * MIB };
/** Markup is more than its text, but not without bound. */
const MARKUP = { ...FILE, headBytes: 4 * MIB };

export type FormatName =
  | "text"
  | "markdown"
  | "org"
  | "tex"
  | "csv"
  | "html"
  | "xml"
  | "rtf"
  | "pdf"
  | "docx"
  | "odt"
  | "epub"
  | "mail"
  | "gzip"
  | "zstd"
  | "bzip2";

/** Every kind by its name. */
export const formats: Readonly<Record<FormatName, Format>> = {
  text: {
    ...TEXT,
    label: "text",
    endings: ["txt", "text", "log", "debian"],
    cheap: true,
    load: async () => (await import("./text.ts")).plain,
  },
  markdown: {
    ...TEXT,
    label: "Markdown",
    endings: ["md", "markdown", "rst", "adoc"],
    cheap: true,
    load: async () => (await import("./text.ts")).markdown,
  },
  org: {
    ...TEXT,
    label: "Org",
    endings: ["org"],
    cheap: true,
    load: async () => (await import("./text.ts")).org,
  },
  tex: {
    ...TEXT,
    label: "TeX",
    endings: ["tex", "ltx", "sty", "cls"],
    cheap: true,
    load: async () => (await import("./text.ts")).tex,
  },
  csv: {
    ...TEXT,
    label: "CSV",
    endings: ["csv", "tsv"],
    load: async () => (await import("./csv.ts")).extract,
  },
  html: {
    ...MARKUP,
    label: "HTML",
    endings: ["html", "htm", "xhtml"],
    load: async () => (await import("./html.ts")).extract,
  },
  xml: {
    ...MARKUP,
    label: "XML",
    endings: ["xml"],
    load: async () => (await import("./xml.ts")).extract,
  },
  rtf: {
    ...FILE,
    label: "RTF",
    endings: ["rtf"],
    magic: "{\\rtf",
    load: async () => (await import("./rtf.ts")).extract,
  },
  pdf: {
    ...FILE,
    label: "PDF",
    endings: ["pdf"],
    magic: "%PDF-",
    deadlineMs: 60_000,
    load: async () => (await import("./pdf.ts")).extract,
  },
  docx: {
    ...FILE,
    label: "DOCX",
    endings: ["docx", "docm", "dotx"],
    load: async () => (await import("./docx.ts")).extract,
  },
  odt: {
    ...FILE,
    label: "ODT",
    endings: ["odt", "ott"],
    load: async () => (await import("./odt.ts")).extract,
  },
  epub: {
    ...FILE,
    label: "EPUB",
    endings: ["epub"],
    load: async () => (await import("./epub.ts")).extract,
  },
  mail: {
    ...FILE,
    label: "mail",
    endings: ["eml", "mht", "mhtml"],
    deadlineMs: 120_000,
    holdsFiles: true,
    load: async () => (await import("./mail.ts")).extract,
  },
  gzip: {
    ...FILE,
    label: "gzip",
    endings: ["gz"],
    magic: "\x1f\x8b\x08",
    deadlineMs: 90_000,
    holdsFiles: true,
    load: async () => (await import("./unpack.ts")).gzip,
  },
  zstd: {
    ...FILE,
    label: "zstd",
    endings: ["zst"],
    magic: "\x28\xb5\x2f\xfd",
    deadlineMs: 90_000,
    holdsFiles: true,
    load: async () => (await import("./unpack.ts")).zstd,
  },
  bzip2: {
    ...FILE,
    label: "bzip2",
    endings: ["bz2"],
    magic: "BZh",
    deadlineMs: 90_000,
    holdsFiles: true,
    load: async () => (await import("./unpack.ts")).bzip2,
  },
};

/** The kinds that wrap one file, whose name is theirs without the ending. */
const compressed: ReadonlySet<FormatName> = new Set(["gzip", "zstd", "bzip2"]);

const byEnding: ReadonlyMap<string, FormatName> = new Map(
  (Object.keys(formats) as FormatName[]).flatMap((name) =>
    formats[name].endings.map((ending) => [ending, name] as const),
  ),
);

const MANUAL_SECTION = /^[1-9](pm|perl|ssl|posix|x)?$/;

/** The kind that a name promises; undefined when it promises none. */
export function formatByName(name: string): FormatName | undefined {
  const dot = name.lastIndexOf(".");
  if (dot <= 0) return undefined;
  const ending = name.slice(dot + 1).toLowerCase();
  return byEnding.get(ending) ?? (MANUAL_SECTION.test(ending) ? "text" : undefined);
}

/** The name without the endings that say how it is packed, as far as it has them. */
export function unpackedName(name: string): string {
  const format = formatByName(name);
  return format !== undefined && compressed.has(format)
    ? unpackedName(name.slice(0, name.lastIndexOf(".")))
    : name;
}

/** The name without the endings that say the kind: the title of a document that has none. */
export function stemOf(name: string): string {
  const bare = unpackedName(name);
  return formatByName(bare) === undefined ? bare : bare.slice(0, bare.lastIndexOf("."));
}

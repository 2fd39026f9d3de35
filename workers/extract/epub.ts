/** The text of an EPUB (OCF 3.3, EPUB 3.3): its chapters in reading order. */
import { posix } from "node:path";
import { stopped } from "../control.ts";
import { readProperties } from "./docx.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";
import { xhtmlToText } from "./html.ts";
import { parseXml } from "./xml.ts";
import { openZip } from "./zip.ts";
import type { Zip } from "./zip.ts";

const CONTAINER = "META-INF/container.xml";
const ENCRYPTION = "META-INF/encryption.xml";
/** Of a chapter; what follows is left out and the text counts as truncated. */
const CHAPTER_UNITS = 4 * 1024 * 1024;

/** An EPUB file. */
export const extract: Extractor = (bytes, { units, cancelled }) => {
  const zip = openZip(bytes, "EPUB");
  const packagePath = packageOf(zip);
  const xml = zip.text(packagePath);
  const encrypted = zip.has(ENCRYPTION) ? zip.text(ENCRYPTION) : "";
  const chapters: string[] = [];
  let length = 0;
  let truncated = false;
  const notes = new Set<string>();
  for (const chapter of chaptersOf(xml, posix.dirname(packagePath))) {
    if (cancelled()) throw stopped();
    if (length > units) {
      truncated = true;
      break;
    }
    if (!zip.has(chapter)) {
      notes.add("lacks some of its chapters");
      continue;
    }
    // Embedded fonts are often the only thing that is.
    if (encrypted.includes(`"${chapter}"`)) throw new Refusal("encrypted", "is encrypted");
    const xhtml = zip.text(chapter);
    const { text, complete } = xhtmlToText(xhtml.slice(0, CHAPTER_UNITS));
    if (xhtml.length > CHAPTER_UNITS) notes.add("read up to 4 MiB of a chapter");
    if (!complete) notes.add("read up to 200 levels of a chapter");
    chapters.push(text);
    length += text.length;
  }
  return {
    text: chapters.join("\n\n"),
    // A text without some of its chapters is no whole text.
    truncated: truncated || notes.size > 0,
    notes: [...notes],
    ...readProperties(xml, {
      title: "dc:title",
      createdDate: "dc:date",
      correspondent: "dc:creator",
    }),
  };
};

function packageOf(zip: Zip): string {
  let path: string | undefined;
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (/(^|:)rootfile$/.test(name)) path ??= attributes["full-path"];
  };
  parseXml(zip.text(CONTAINER), { open }, () => false);
  if (path === undefined) throw new Refusal("broken EPUB", "names no package document");
  return path;
}

/** The paths of the chapters in the order of the spine. */
function chaptersOf(xml: string, folder: string): string[] {
  const paths = new Map<string, string>();
  const spine: string[] = [];
  const open = (name: string, { id, href, idref }: Readonly<Record<string, string>>): void => {
    if (/(^|:)item$/.test(name) && id !== undefined && href !== undefined)
      paths.set(id, posix.join(folder, decodePath(href)));
    if (/(^|:)itemref$/.test(name) && idref !== undefined) spine.push(idref);
  };
  parseXml(xml, { open }, () => false);
  // Each chapter once, however often the spine names it.
  return [...new Set(spine)].flatMap((id) => paths.get(id) ?? []);
}

function decodePath(href: string): string {
  try {
    return decodeURIComponent(href.replace(/[#?].*$/, ""));
  } catch {
    return href;
  }
}

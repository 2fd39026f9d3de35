/** The text of a DOCX (ECMA-376): its main part and notes, without headers and comments. */
import { posix } from "node:path";
import { readPart } from "./docx-text.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";
import { parseXml } from "./xml.ts";
import { openZip } from "./zip.ts";
import type { Zip } from "./zip.ts";

const RELATIONSHIPS = "_rels/.rels";
/** Where the main part usually is. */
const USUAL_MAIN = "word/document.xml";
/** Beside the main part, to be read after it in this order. */
const NOTES = ["footnotes.xml", "endnotes.xml"] as const;

/** A DOCX file. */
export const extract: Extractor = (bytes, { units, named }) => {
  const zip = openZip(bytes, "DOCX");
  const main = mainPartOf(zip);
  if (main === undefined)
    throw new Refusal("other type", "is a zip archive without a Word document", named);
  let text = "";
  let all = true;
  let inserts = false;
  const notes = NOTES.map((name) => posix.join(posix.dirname(main), name));
  for (const path of [main, ...notes.filter((name) => zip.has(name))]) {
    if (text.length > units) {
      all = false;
      continue;
    }
    const part = readPart(zip.text(path), units - text.length);
    text += part.text;
    inserts ||= part.inserts;
  }
  return {
    text,
    truncated: !all || text.length > units,
    omits: inserts,
    notes: inserts ? ["holds another file whose text was not read"] : [],
    ...propertiesOf(zip),
  };
};

/**
 * The path of the main part, which the relationships of the package name (ECMA-376-2, 9.3):
 * Word Online's is `word/document2.xml`.
 */
function mainPartOf(zip: Zip): string | undefined {
  let named: string | undefined;
  const open = (_: string, { Type = "", Target = "" }: Readonly<Record<string, string>>): void => {
    if (Type.endsWith("/officeDocument")) named ??= posix.join("/", Target).slice(1);
  };
  if (zip.has(RELATIONSHIPS)) parseXml(zip.text(RELATIONSHIPS), { open }, () => false);
  // The main part of a workbook or a presentation is found in the same way.
  const isWord = (path: string): boolean => zip.has(path) && !/^(xl|ppt|visio)\//.test(path);
  return [named ?? USUAL_MAIN, USUAL_MAIN].find(isWord);
}

/** Title and date of what Dublin Core calls properties; broken ones are no reason to refuse. */
function propertiesOf(zip: Zip): { readonly title?: string; readonly createdDate?: string } {
  const name = "docProps/core.xml";
  if (!zip.has(name)) return {};
  try {
    return readProperties(zip.text(name), { title: "dc:title", createdDate: "dcterms:created" });
  } catch {
    return {};
  }
}

/** The texts of named elements, the first of each; empty ones are left out. */
export function readProperties<K extends string>(
  xml: string,
  elements: Readonly<Record<K, string>>,
): Partial<Record<K, string>> {
  const found: Partial<Record<K, string>> = {};
  const keys = Object.keys(elements) as K[];
  let current: K | undefined;
  let text = "";
  parseXml(
    xml,
    {
      open(name) {
        current = keys.find((key) => elements[key] === name);
        text = "";
      },
      text(piece) {
        if (text.length < 1_000) text += piece;
      },
      close(name) {
        if (current === undefined || elements[current] !== name) return;
        if (text.trim() !== "") found[current] ??= text.trim();
        current = undefined;
      },
    },
    () => false,
  );
  return found;
}

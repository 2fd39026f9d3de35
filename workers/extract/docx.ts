/** The text of a DOCX (ECMA-376): paragraphs, tables, notes; without deletions and field codes. */
import type { Extractor } from "./extractor.ts";
import { parseXml } from "./xml.ts";
import { openZip } from "./zip.ts";
import type { Zip } from "./zip.ts";
import { Refusal } from "./extractor.ts";

const MAIN = "word/document.xml";
/** After the main part, in this order. */
const NOTES = ["word/footnotes.xml", "word/endnotes.xml"] as const;

/** What stands for an element in the text. */
const breaks: Readonly<Record<string, string>> = {
  "w:p": "\n",
  "w:br": "\n",
  "w:cr": "\n",
  "w:tab": "\t",
  "w:tc": "\t",
};

/** A second rendering of what was written already, e.g. of a text box for old readers. */
const REPEATED = "mc:Fallback";

/** A DOCX file. */
export const extract: Extractor = (bytes, { units }) => {
  const zip = openZip(bytes, "DOCX");
  if (!zip.has(MAIN))
    throw new Refusal("other type", "is a zip archive without a Word document", false);
  let text = "";
  let all = true;
  for (const part of [MAIN, ...NOTES.filter((name) => zip.has(name))]) {
    if (text.length > units) all = false;
    else text += textOf(zip.text(part), units - text.length);
  }
  return { text, truncated: !all || text.length > units, ...propertiesOf(zip) };
};

function textOf(xml: string, units: number): string {
  const pieces: string[] = [];
  let length = 0;
  let isText = false;
  let repeated = 0;
  const add = (piece: string): void => {
    if (repeated > 0) return;
    pieces.push(piece);
    length += piece.length;
  };
  parseXml(
    xml,
    {
      open(name) {
        if (name === REPEATED) repeated += 1;
        else if (name === "w:t") isText = true;
        else if (name === "w:tab" || name === "w:br" || name === "w:cr") add(breaks[name] ?? "");
      },
      close(name) {
        if (name === REPEATED) repeated -= 1;
        else if (name === "w:t") isText = false;
        else if (name === "w:p" || name === "w:tc") add(breaks[name] ?? "");
      },
      text: (piece) => isText && add(piece),
    },
    () => length > units,
  );
  return pieces.join("");
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

/** The text of an ODT (OASIS OpenDocument): without tracked deletions and comments. */
import { readProperties } from "./docx.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";
import { createFormReader } from "./odt-forms.ts";
import { createFormulaReader } from "./odt-formulas.ts";
import { parseXml } from "./xml.ts";
import { openZip } from "./zip.ts";
import type { Zip } from "./zip.ts";

const CONTENT = "content.xml";
const BODY = "office:text";
/** Not part of what a reader sees. */
const UNREAD: ReadonlySet<string> = new Set([
  "office:annotation",
  "svg:desc",
  "svg:title",
  "text:index-entry-span",
  "text:index-title-template",
  "text:tracked-changes",
]);
/** Text written at the start tag of an element. */
const opened: ReadonlyMap<string, string> = new Map([
  ["text:tab", "\t"],
  ["text:line-break", "\n"],
  // Repeated spaces are one; a count may be anything.
  ["text:s", " "],
  // These stand within a paragraph, close to its words.
  ["draw:text-box", " "],
  ["text:note", " "],
  ["text:note-body", " "],
]);
/** Text written at the end tag. */
const closed: ReadonlyMap<string, string> = new Map([
  ["text:p", "\n"],
  ["text:h", "\n"],
  ["table:table-cell", "\t"],
]);

/** An ODT file. */
export const extract: Extractor = (bytes, { units, named }) => {
  const zip = openZip(bytes, "ODT");
  if (isEncrypted(zip)) throw new Refusal("encrypted", "is encrypted");
  if (!zip.has(CONTENT))
    throw new Refusal("other type", "is a zip archive without an OpenDocument text", named);
  const formulas = createFormulaReader(zip);
  const text = textOf(zip.text(CONTENT), units, formulas.read);
  return {
    text,
    truncated: text.length > units,
    omits: formulas.omits(),
    ...propertiesOf(zip),
  };
};

// The members are encrypted one by one, or all of them as one; only the manifest says so.
function isEncrypted(zip: Zip): boolean {
  const name = "META-INF/manifest.xml";
  return zip.has(name) && zip.text(name).includes("encryption-data");
}

function textOf(xml: string, units: number, formulaAt: (href: string) => string): string {
  const pieces: string[] = [];
  let length = 0;
  let body = 0;
  let unread = 0;
  const answerOf = createFormReader();
  const add = (piece: string | undefined): void => {
    if (piece === undefined || body === 0 || unread > 0) return;
    pieces.push(piece);
    length += piece.length;
  };
  parseXml(
    xml,
    {
      open(name, attributes) {
        if (name === BODY) body += 1;
        else if (UNREAD.has(name)) unread += 1;
        else if (name === "draw:object") add(formulaAt(attributes["xlink:href"] ?? ""));
        else add(opened.get(name) ?? answerOf(name, attributes));
      },
      close(name) {
        if (name === BODY) body -= 1;
        else if (UNREAD.has(name)) unread -= 1;
        else add(closed.get(name));
      },
      text: add,
    },
    () => length > units,
  );
  return pieces.join("");
}

function propertiesOf(zip: Zip): { readonly title?: string; readonly createdDate?: string } {
  try {
    return readProperties(zip.text("meta.xml"), {
      title: "dc:title",
      createdDate: "meta:creation-date",
    });
  } catch {
    return {};
  }
}

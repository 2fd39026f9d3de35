/** The formulas of an ODT: objects in MathML, each in a part of its own. */
import { posix } from "node:path";
import { parseXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

/** Of one formula. */
const FORMULA_UNITS = 10_000;
const ROOTS: ReadonlySet<string> = new Set(["math", "math:math"]);

interface FormulaReader {
  /** The formula that `draw:object` refers to; nothing for other objects, which are pictures. */
  readonly read: (href: string) => string;
  /** Some formulas were not read as they are. */
  readonly omits: () => boolean;
}

/** Unpacks each object once, and none after the first that is broken or too large. */
export function createFormulaReader(zip: Zip): FormulaReader {
  const known = new Map<string, string>();
  let failed = false;
  let omits = false;
  const read = (href: string): string => {
    const path = posix.join(href, "content.xml");
    const found = known.get(path);
    if (found !== undefined || failed || !zip.has(path)) return found ?? "";
    try {
      const { text, isSure } = formulaOf(zip.text(path));
      omits ||= !isSure;
      known.set(path, text);
      return text;
    } catch {
      failed = true;
      omits = true;
      return "";
    }
  };
  return { read, omits: () => omits };
}

interface Formula {
  readonly text: string;
  /** Different formulas have different texts. */
  readonly isSure: boolean;
}

/** The formula as it was typed, which LibreOffice keeps as a note; else its signs one by one. */
function formulaOf(xml: string): Formula {
  let signs = "";
  let typed = "";
  let isMath: boolean | undefined;
  let isNote = false;
  parseXml(
    xml,
    {
      open(name) {
        isMath ??= ROOTS.has(name);
        isNote = /^(math:)?annotation$/.test(name);
        signs += " ";
      },
      close: () => (isNote = false),
      text(piece) {
        if (isNote) typed += piece;
        else signs += piece;
      },
    },
    () => isMath === false || signs.length + typed.length > FORMULA_UNITS,
  );
  if (isMath !== true) return { text: "", isSure: true };
  const text = (typed.trim() || signs.replaceAll(/\s+/g, " ").trim()).slice(0, FORMULA_UNITS);
  return { text: ` ${text} `, isSure: typed.trim() !== "" && text.length < FORMULA_UNITS };
}

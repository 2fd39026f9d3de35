/** What a part of a DOCX says to a reader: its texts, answers of forms, signs and formulas. */
import { formulaMarks } from "./formula-marks.ts";
import { parseXml } from "./xml.ts";

/** Text written at the start tag of an element. */
const opened: ReadonlyMap<string, string> = new Map([
  ["w:br", "\n"],
  ["w:cr", "\n"],
  ["w:noBreakHyphen", "-"],
  ["w:ptab", "\t"],
  ["w:tab", "\t"],
  // A text box may stand within a paragraph.
  ["w:txbxContent", "\n"],
  ...formulaMarks.map(([name, before]) => [`m:${name}`, before] as const),
]);
/** Text written at the end tag. */
const closed: ReadonlyMap<string, string> = new Map([
  ["w:p", "\n"],
  ["w:tc", "\t"],
  ...formulaMarks.map(([name, , after]) => [`m:${name}`, after] as const),
]);
/** Elements whose content is text. */
const TEXTS: ReadonlySet<string> = new Set(["w:t", "m:t"]);
/** Signs of a formula that are attributes: operators, accents and brackets. */
const SIGNS: ReadonlySet<string> = new Set(["m:begChr", "m:chr", "m:endChr", "m:sepChr"]);

/** Not part of what a reader sees, or a second time. */
const UNREAD: ReadonlySet<string> = new Set([
  "w:del",
  // Where a moved text was.
  "w:moveFrom",
  // What old readers show, e.g. instead of a text box.
  "mc:Fallback",
]);

type Attributes = Readonly<Record<string, string>>;

/** The text of a part. */
interface PartText {
  readonly text: string;
  /** It inserts another file (`altChunk`), which is not read. */
  readonly inserts: boolean;
}

/** The text until the end of the part or at least `units`. */
export function readPart(xml: string, units: number): PartText {
  const reader = new PartReader();
  parseXml(xml, reader, () => reader.length > units);
  return { text: reader.pieces.join(""), inserts: reader.inserts };
}

class PartReader {
  readonly pieces: string[] = [];
  length = 0;
  inserts = false;
  #isText = false;
  #unread = 0;
  /** The runs that are open, which lie in each other with text boxes: whether each is hidden. */
  readonly #runs: boolean[] = [];
  /** The properties that are open are those of the last run. */
  #isOfRun = false;
  /** The element that was opened last. */
  #last = "";
  /** The choice of a field of a form, and the entries of its list. */
  #choice = 0;
  readonly #entries: string[] = [];

  open(name: string, attributes: Attributes): void {
    if (UNREAD.has(name)) this.#unread += 1;
    else if (TEXTS.has(name)) this.#isText = true;
    else if (SIGNS.has(name)) this.#add(attributes["m:val"]);
    else if (!this.#openField(name, attributes) && !this.#openRun(name, attributes))
      this.#add(opened.get(name));
    if (name === "w:altChunk") this.inserts = true;
    this.#last = name;
  }

  close(name: string): void {
    if (UNREAD.has(name)) this.#unread -= 1;
    else if (TEXTS.has(name)) this.#isText = false;
    else if (name === "w:rPr") this.#isOfRun = false;
    else if (name === "w:r") this.#runs.pop();
    else if (name === "w:checkBox") this.#add(this.#choice === 0 ? "\u2610" : "\u2612");
    else if (name === "w:ddList") this.#add(this.#entries[this.#choice]);
    else this.#add(closed.get(name));
  }

  text(piece: string): void {
    if (this.#isText) this.#add(piece);
  }

  /** A check box or list of a form; the texts of its other fields stand in runs. */
  #openField(name: string, attributes: Attributes): boolean {
    switch (name) {
      case "w:checkBox":
      case "w:ddList":
        this.#choice = 0;
        this.#entries.length = 0;
        return true;
      // The default of a field stands before what was chosen.
      case "w:default":
      case "w:checked":
      case "w:result": {
        const { "w:val": value = "1" } = attributes;
        this.#choice = /^\d{1,5}$/.test(value) ? Number(value) : Number(isOn(attributes));
        return true;
      }
      case "w:listEntry":
        this.#entries.push(attributes["w:val"] ?? "");
        return true;
      default:
        return false;
    }
  }

  /** A run, whether it is hidden, and a sign of a symbol font in it. */
  #openRun(name: string, attributes: Attributes): boolean {
    switch (name) {
      case "w:r":
        this.#runs.push(false);
        return true;
      case "w:rPr":
        // Those of a paragraph's mark and those before a change stand elsewhere.
        this.#isOfRun = this.#last === "w:r";
        return true;
      case "w:vanish":
        if (this.#isOfRun && isOn(attributes)) this.#runs.splice(-1, 1, true);
        return true;
      case "w:sym": {
        const code = attributes["w:char"] ?? "";
        if (/^[0-9a-f]{4}$/i.test(code)) this.#add(String.fromCharCode(parseInt(code, 16)));
        return true;
      }
      default:
        return false;
    }
  }

  #add(piece: string | undefined): void {
    if (piece === undefined || this.#unread > 0) return;
    // Breaks stay, so that words around what is hidden are not joined.
    if (this.#runs.at(-1) === true && piece.trim() !== "") return;
    this.pieces.push(piece);
    this.length += piece.length;
  }
}

/** A switch is on unless it says otherwise (ECMA-376-1, 17.17.4). */
function isOn({ "w:val": value = "1" }: Attributes): boolean {
  return !["0", "false", "off"].includes(value);
}

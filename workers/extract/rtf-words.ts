/** The words of RTF (Rich Text Format 1.9.1) that change what is printed. */
import { formulaMarks } from "./formula-marks.ts";

/** Groups whose text is not printed, or not where it stands. */
export const UNREAD: ReadonlySet<string> = new Set(
  "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf fldinst listtable listoverridetable rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl pgdsctbl filetbl revtbl nonshppict shprslt bkmkstart bkmkend xe tc mmathPr annotation atnid atnauthor mmathPict mctrlPr mjc mtype mdegHide mgrow mlimLoc msubHide msupHide mpos mvertJc mbaseJc mmaxDist mobjDist mrSpRule mcGpRule mcount mmcJc mplcHide mshow mzeroWid mzeroAsc mzeroDesc mtransp".split(
    " ",
  ),
);

/** Groups that are printed although the group around them, which is named here, is not read. */
export const printed: ReadonlyMap<string, string> = new Map([
  // The texts of text boxes, and of those of old versions.
  ["shptxt", "shpinst"],
  ["dptxbxtext", "do"],
  // What is shown of an embedded object.
  ["result", "object"],
]);

/** Text between `\name` and `\name0` is not printed. */
export const HIDING: ReadonlySet<string> = new Set(["deleted", "v"]);

/** Text written for a control word. */
export const symbols: Readonly<Record<string, string>> = {
  par: "\n",
  line: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  column: "\n",
  // It stands close to the word that it is a note of.
  footnote: " ",
  tab: "\t",
  cell: "\t",
  nestcell: "\t",
  nestrow: "\n",
  emdash: "\u2014",
  endash: "\u2013",
  bullet: "\u2022",
  lquote: "\u2018",
  rquote: "\u2019",
  ldblquote: "\u201c",
  rdblquote: "\u201d",
  emspace: " ",
  enspace: " ",
  "~": "\u00a0",
  _: "-",
  "\n": "\n",
  "\r": "\n",
};

/** The parts of a formula, with what is written before and after each. */
export const formulas: ReadonlyMap<string, readonly [before: string, after: string]> = new Map([
  ["moMath", [" ", " "]],
  ["moMathPara", ["", ""]],
  ...formulaMarks.map(([name, before, after]) => [`m${name}`, [before, after]] as const),
]);

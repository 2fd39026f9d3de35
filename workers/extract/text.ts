/** Texts that need only be decoded: plain text, Markdown, Org, TeX, source code. */
import { decodeText } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extraction, Extractor } from "./extractor.ts";
import { headingOf } from "./titles.ts";

/** Where the title of an Org or TeX file is looked for. */
const TITLE_WITHIN = 16 * 1024;

/** Text without a title of its own, such as source code. */
export const plain: Extractor = (bytes, extraction) => read(bytes, extraction, () => undefined);

/** Markdown, reStructuredText, AsciiDoc: the title is the first heading. */
export const markdown: Extractor = (bytes, extraction) => read(bytes, extraction, headingOf);

/** Emacs' Org: the title is `#+TITLE`, else the first heading. */
export const org: Extractor = (bytes, extraction) =>
  read(bytes, extraction, (text) => {
    const head = text.slice(0, TITLE_WITHIN);
    return (/^#\+title:[ \t]*(\S.*)$/im.exec(head) ?? /^\*+[ \t]+(\S.*)$/m.exec(head))?.[1];
  });

/** TeX and LaTeX: the title is `\title{…}`, else the first section. Commands stay in the text. */
export const tex: Extractor = (bytes, extraction) =>
  read(bytes, extraction, (text) => {
    const head = text.slice(0, TITLE_WITHIN);
    const title = (/\\title\{([^{}]*)\}/.exec(head) ??
      /\\(?:chapter|section)\*?\{([^{}]*)\}/.exec(head))?.[1];
    return title?.replace(/\\\\|~/g, " ");
  });

function read(
  bytes: Uint8Array,
  { whole }: Extraction,
  titleOf: (text: string) => string | undefined,
): Extracted {
  const decoded = decodeText(bytes, whole);
  if ("notText" in decoded) throw new Refusal("not text", decoded.notText);
  const { text, note } = decoded;
  return {
    text,
    truncated: !whole,
    title: titleOf(text),
    notes: note === undefined ? [] : [note],
  };
}

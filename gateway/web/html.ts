/**
 * The template tag of all pages: its parts are text, numbers, other views or lists of them, never
 * markup. The same view is rendered by the server (`render.ts`) and updated by the browser
 * (preact).
 */
import { html as tag } from "htm/preact";
import type { VNode } from "preact";

/** A piece of a page, not yet written out. */
export type View = VNode;

/**
 * A value between tags. Text is always escaped. Undefined, null and booleans render nothing.
 */
export type Child = string | number | boolean | null | undefined | View | readonly Child[];

/**
 * A part that is made only when the server comes to it, so that a long page is written in pieces;
 * the browser has no use for it.
 */
export type Later = () => Child;

/**
 * Attributes to spread: `...${attributes}`. False and undefined leave an attribute out, true leaves
 * it without a value.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Makes a view. Character references are not read in it: write the character. Parts may stand for
 * children, attribute values and spread attributes.
 */
export const html: (
  strings: TemplateStringsArray,
  ...parts: readonly (Child | Attributes | Later)[]
) => View = tag;

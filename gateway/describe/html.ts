/** HTML that cannot be written unescaped by accident: whatever a template is given is text, unless it is HTML already. */

/** Finished HTML. Made by `html` only. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A part of a template: text is escaped, lists are joined, undefined leaves nothing. */
export type Part = string | number | Html | undefined | readonly Part[];

/** Joins a template. Attribute values must be quoted in it. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + render(parts[index])).join(""));
}

function render(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.toString();
  return typeof part === "object" ? part.map(render).join("") : escapeHtml(String(part));
}

/** Text as HTML shows it, in elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

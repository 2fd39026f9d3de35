/** An invented document before it becomes a file. */

/** The form of the file. */
export type Format = "txt" | "md" | "html";

/** A text with what names and dates its file. */
export interface DemoDocument {
  /** Folder within the archive. */
  readonly folder: string;
  /** File name without its ending. */
  readonly name: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Milliseconds since 1970; the file's time. */
  readonly writtenAtMs: number;
}

/** The document as the text of a file. */
export function renderDocument(document: DemoDocument, format: Format): string {
  const { title, paragraphs } = document;
  switch (format) {
    case "txt":
      return `${title}\n\n${paragraphs.join("\n\n")}\n`;
    case "md":
      return `# ${title}\n\n${paragraphs.join("\n\n")}\n`;
    case "html":
      return `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>\n<body>\n<h1>${escapeHtml(title)}</h1>\n${paragraphs
        .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll("\n", "<br>\n")}</p>`)
        .join("\n")}\n</body>\n</html>\n`;
  }
}

/** A name for a file: lower case, words joined by dashes. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

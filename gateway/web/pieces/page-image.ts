/**
 * The first page of a document as its archive shows it. The space is the same while the picture
 * loads, when it is there, and when it is not: then a text stands in it (`browser/page-images.ts`).
 * Without scripts the text and the link to the file are there alone, since nothing would replace a
 * broken picture.
 */
import { html, type Child } from "../html.ts";

export interface PictureOf {
  readonly archive: string;
  /** Null: the archive has no pictures. */
  readonly paperlessId: number | null;
}

/** A picture that opens the file in a new tab. Nothing for a document of an archive without pictures. */
export function pageImage(document: PictureOf, title: string, size: "large" | "small"): Child {
  if (document.paperlessId === null) return undefined;
  return html`<figure class=${size === "small" ? "page-image small" : "page-image"} key=${keyOf(document)}>
    <a class="page-frame" href=${fileOf(document, "preview")} target="_blank" rel="noopener" title="Open the file in a new tab">${picture(document, `First page of ${title}; opens the file`)}<span class="no-image">${size === "small" ? "no image" : "The archive gives no picture of it."}<span class="sr"> Open the file of ${title}</span></span></a>
  </figure>`;
}

/** A small picture that leads nowhere, beside a link that has the title. */
export function listedImage(document: PictureOf): Child {
  if (document.paperlessId === null) return undefined;
  return html`<figure class="page-image small" key=${keyOf(document)}><span class="page-frame">${picture(document, "")}<span class="no-image" aria-hidden="true">no image</span></span></figure>`;
}

function picture(document: PictureOf, alt: string): Child {
  return html`<img class="scripted" src=${fileOf(document, "thumb")} alt=${alt} loading="lazy" decoding="async" data-page />`;
}

function keyOf({ archive, paperlessId }: PictureOf): string {
  return `${archive} ${paperlessId}`;
}

function fileOf({ archive, paperlessId }: PictureOf, kind: "thumb" | "preview"): string {
  return `/api/v1/paperless/documents/${paperlessId}/${kind}?archive=${encodeURIComponent(archive)}`;
}

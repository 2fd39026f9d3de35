/**
 * The first page of a document as its archive shows it, with a link to the file. The room is kept
 * while the picture loads; without one a sentence stands there (`browser/page-images.ts`).
 */
import { html, type Child } from "../html.ts";

export interface PictureOf {
  readonly archive: string;
  /** Null: the archive has no pictures. */
  readonly paperlessId: number | null;
}

/** Nothing for a document of an archive without pictures. */
export function pageImage({ archive, paperlessId }: PictureOf, title: string): Child {
  if (paperlessId === null) return undefined;
  const at = (kind: "thumb" | "preview"): string =>
    `/api/v1/paperless/documents/${paperlessId}/${kind}?archive=${encodeURIComponent(archive)}`;
  return html`<figure class="page-image" key=${`${archive} ${paperlessId}`}>
    <a href=${at("preview")} target="_blank" rel="noopener"><img src=${at("thumb")} alt=${`First page of ${title}; opens the file`} loading="lazy" width="124" height="176" data-page /></a>
    <figcaption class="note">The archive gives no picture of it.</figcaption>
  </figure>`;
}

/** A page or a piece of it as one text. */
import type { View } from "../../../gateway/web/html.ts";
import { renderPieces } from "../../../gateway/web/render.ts";

export function renderHtml(view: View | readonly View[]): string {
  return [...renderPieces(view)].join("");
}

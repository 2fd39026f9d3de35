/** Cursors of pages in order of arrival: `v1:<number>` as base64url. */

const FORM = /^v1:(\d{1,15})$/;
/** Longer texts are no cursor. */
const MAX_LENGTH = 64;

/** A page continues below this number. */
export function writeCursor(seq: number): string {
  return Buffer.from(`v1:${seq}`).toString("base64url");
}

/** Undefined for anything that is no cursor of this version. */
export function readCursor(cursor: string): number | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const digits = FORM.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Times as Paperless-ngx writes them: any offset, microseconds left out when they are zero. */

const WRITTEN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Microseconds since 1970, exact for the next two centuries; undefined for anything else. Texts of
 * one moment differ with the server's zone, so that only instants are compared.
 */
export function instantOf(text: string): number | undefined {
  const match = WRITTEN.exec(text);
  if (match === null) return undefined;
  const [, seconds = "", fraction = "", offset = ""] = match;
  const ms = Date.parse(`${seconds}${offset}`);
  return Number.isNaN(ms) ? undefined : ms * 1_000 + Number(fraction.padEnd(6, "0"));
}

/** Which codings of an answer a client takes (RFC 9110 §12.5.3). */

const NAMES = ["gzip", "x-gzip", "*"];

/**
 * Whether an answer may be sent as gzip: its client names that, by its old name too, or everything,
 * and with a weight above 0. A weight that is no number counts as 0.
 */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  const accepted = (typeof header === "string" ? header : (header ?? []).join(","))
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()));
  const named = NAMES.map((name) => accepted.find(([coding]) => coding === name)).find(
    (found) => found !== undefined,
  );
  return (
    named !== undefined && Number(named.find((part) => part.startsWith("q="))?.slice(2) ?? 1) > 0
  );
}

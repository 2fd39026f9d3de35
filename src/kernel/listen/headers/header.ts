/** Values of request headers. */

/**
 * The value of a header; of one that came several times all of them, joined by commas (RFC 9110
 * §5.3).
 */
export function joinedHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}

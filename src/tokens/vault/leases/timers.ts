/** The ids of the timers that leases, orphans and sweeps share: a letter and what it is about. */

/** What a timer revokes. */
export type Timer =
  | { readonly kind: "lease"; readonly seq: number }
  | { readonly kind: "orphan"; readonly requestId: string }
  | { readonly kind: "token"; readonly tokenId: string }
  | { readonly kind: "prefix"; readonly prefix: string };

/** The end of a lease, or the next try to revoke it. */
export function leaseTimer(seq: number): string {
  return `l${seq}`;
}

/** The end of an orphan. */
export function orphanTimer(requestId: string): string {
  return `o${requestId}`;
}

/** A look for leases of an ended token. */
export function tokenTimer(id: string): string {
  return `t${id}`;
}

/** A look for leases below a prefix. */
export function prefixTimer(prefix: string): string {
  return `p${prefix}`;
}

/** Reads what the above made. */
export function parseTimer(id: string): Timer {
  const rest = id.slice(1);
  if (id.startsWith("l")) return { kind: "lease", seq: Number(rest) };
  if (id.startsWith("o")) return { kind: "orphan", requestId: rest };
  return id.startsWith("t") ? { kind: "token", tokenId: rest } : { kind: "prefix", prefix: rest };
}

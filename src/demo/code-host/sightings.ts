/**
 * Requests received, counted per operation, with the latest of each, without credentials.
 */
import type { ServerRequest } from "../../kernel/listen/exchange.ts";
import { claimsOf } from "./app-jwt.ts";
import { OPERATIONS, type Operation } from "./routes.ts";
import type { SeenRequest } from "./types.ts";

/** Watches requests. */
export interface Sightings {
  see(operation: Operation, request: ServerRequest, body: string): void;
  counts(): Readonly<Record<Operation, number>>;
  last(operation?: Operation): SeenRequest | undefined;
}

interface Raw {
  readonly operation: Operation;
  readonly request: ServerRequest;
  readonly body: string;
}

/** Keeps one request per operation, decoded on demand. */
export function createSightings(): Sightings {
  const counts = Object.fromEntries(OPERATIONS.map((operation) => [operation, 0])) as Record<
    Operation,
    number
  >;
  const latest = new Map<Operation, Raw>();
  let last: Raw | undefined;
  return {
    see(operation, request, body) {
      counts[operation] += 1;
      last = { operation, request, body };
      latest.set(operation, last);
    },
    counts: () => ({ ...counts }),
    last(operation) {
      const raw = operation === undefined ? last : latest.get(operation);
      return raw === undefined ? undefined : readable(raw);
    },
  };
}

function readable({ operation, request, body }: Raw): SeenRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !name.startsWith(":"))
      headers[name] = Array.isArray(value) ? value.join(", ") : value;
  const { authorization } = headers;
  if (authorization !== undefined)
    headers["authorization"] = `${authorization.split(" ")[0] ?? ""} [secret]`;
  return {
    operation,
    method: request.method ?? "",
    path: request.url ?? "",
    headers,
    body,
    claims: claimsOf(authorization),
  };
}

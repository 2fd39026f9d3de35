/** What a mount's path and times may be. */
import { StewardError } from "../../../kernel/base/errors.ts";

/** Reserved first segments. */
const RESERVED_MOUNTS: readonly string[] = ["sys", "auth", "cubbyhole", "identity"];
/** Segments of letters, digits, `-`, `_` and `.`, up to eight of them. */
const PATH = /^(?:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\/){1,8}$/;

/**
 * Throws `invalid` for a path that is malformed, reserved or taken; `taken` are the paths there
 * are.
 */
export function assertFreePath(
  spec: { readonly path: string; readonly class: "secret" | "auth" },
  taken: readonly string[],
): void {
  const own = spec.class === "auth" ? spec.path.replace(/^auth\//, "") : spec.path;
  if (!PATH.test(own)) {
    throw new StewardError(
      "invalid",
      `a mount's path has one to eight segments of letters, digits, "-", "_" and ".", got ${JSON.stringify(own.slice(0, 100))}`,
      { field: "path", rule: "path" },
    );
  }
  const first = own.split("/", 1)[0] ?? "";
  if (spec.class === "secret" && RESERVED_MOUNTS.includes(first)) {
    throw new StewardError(
      "invalid",
      `path ${JSON.stringify(own)} is reserved; the first segment may not be ${RESERVED_MOUNTS.join(", ")}`,
      { field: "path", rule: "reserved" },
    );
  }
  const conflict = taken.find((path) => path.startsWith(spec.path) || spec.path.startsWith(path));
  if (conflict !== undefined)
    throw new StewardError("invalid", `path is already in use at ${conflict}`, {
      field: "path",
      rule: "free",
    });
}

/** Throws `invalid` when the default is longer than the maximum. 0 means the system's own. */
export function assertTtls(
  spec: { readonly defaultLeaseTtlMs: number; readonly maxLeaseTtlMs: number },
  system: { readonly maxLeaseTtlMs: number },
): void {
  const most = spec.maxLeaseTtlMs === 0 ? system.maxLeaseTtlMs : spec.maxLeaseTtlMs;
  if (spec.defaultLeaseTtlMs > most) {
    throw new StewardError(
      "invalid",
      `default_lease_ttl (${spec.defaultLeaseTtlMs / 1000}s) is longer than max_lease_ttl (${most / 1000}s)`,
      { field: "default_lease_ttl", rule: "ttl" },
    );
  }
}

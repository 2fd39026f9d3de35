/**
 * Applies JSON Patches (RFC 6902) of the operations that the status API answers with: add, replace
 * and remove.
 */

/** One operation. `path` is a JSON Pointer (RFC 6901). */
export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

type Container = Record<string, unknown>;

/**
 * The patched document; the given one is left as it is, and what no operation touches is shared.
 * Throws when a path does not exist.
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const copied = new Set<unknown>();
  const root: Container = { "": document };
  for (const { op, path, value } of operations) {
    const names = path.split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = names.pop() ?? "";
    const parent = names.reduce((at, name) => step(at, name, copied), root);
    if (op !== "add" && !Object.hasOwn(parent, last))
      throw new Error(`the patch has no target at ${path}`);
    if (op === "remove") delete parent[last];
    else parent[last] = value;
  }
  return root[""] as T;
}

/** The member of a container, as a copy that this patch may change. */
function step(at: Container, name: string, copied: Set<unknown>): Container {
  const member = Object.hasOwn(at, name) ? at[name] : undefined;
  if (typeof member !== "object" || member === null)
    throw new Error(`the patch has no target at ${name}`);
  if (copied.has(member)) return member as Container;
  const copy = (Array.isArray(member) ? [...(member as unknown[])] : { ...member }) as Container;
  copied.add(copy);
  at[name] = copy;
  return copy;
}

/** The paths of the archive's API that the simulator serves. */
import { createRoutes, type Routes, type RouteLine } from "../routes.ts";

/** The lists of what labels documents, by their paths. */
export type ReferenceKind = "tags" | "correspondents" | "document_types" | "storage_paths";

/** `unknown` is every other path, and every path without its slash at the end. */
export type Operation =
  | "token"
  | "documents"
  | "document"
  | "patch_document"
  | "delete_document"
  | "notes"
  | "add_note"
  | "preview"
  | "thumb"
  | "download"
  | "bulk_edit"
  | "bulk_delete"
  | "trash"
  | "trash_action"
  | "statistics"
  | "status"
  | "remote_version"
  | "users"
  | "groups"
  | "custom_fields"
  | "create_custom_field"
  | ReferenceKind
  | `create_${ReferenceKind}`
  | `one_${ReferenceKind}`
  | "unknown";

const KINDS: readonly ReferenceKind[] = [
  "tags",
  "correspondents",
  "document_types",
  "storage_paths",
];

/** The reference list an operation belongs to. */
export function kindOf(operation: Operation): ReferenceKind | undefined {
  return KINDS.find((kind) => operation === kind || operation.endsWith(`_${kind}`));
}

// `/api/documents/bulk_edit/` comes before `/api/documents/:id/`.
const lines: readonly RouteLine<Operation>[] = [
  ["POST", "/api/token/", "token"],
  ["GET", "/api/documents/", "documents"],
  ["POST", "/api/documents/bulk_edit/", "bulk_edit"],
  ["POST", "/api/documents/delete/", "bulk_delete"],
  ["GET", "/api/documents/:id/", "document"],
  ["PATCH", "/api/documents/:id/", "patch_document"],
  ["DELETE", "/api/documents/:id/", "delete_document"],
  ["GET", "/api/documents/:id/notes/", "notes"],
  ["POST", "/api/documents/:id/notes/", "add_note"],
  ["GET", "/api/documents/:id/preview/", "preview"],
  ["GET", "/api/documents/:id/thumb/", "thumb"],
  ["GET", "/api/documents/:id/download/", "download"],
  ["GET", "/api/trash/", "trash"],
  ["POST", "/api/trash/", "trash_action"],
  ["GET", "/api/statistics/", "statistics"],
  ["GET", "/api/status/", "status"],
  ["GET", "/api/remote_version/", "remote_version"],
  ["GET", "/api/users/", "users"],
  ["GET", "/api/groups/", "groups"],
  ["GET", "/api/custom_fields/", "custom_fields"],
  ["POST", "/api/custom_fields/", "create_custom_field"],
  ...KINDS.flatMap((kind): RouteLine<Operation>[] => [
    ["GET", `/api/${kind}/`, kind],
    ["POST", `/api/${kind}/`, `create_${kind}`],
    ["GET", `/api/${kind}/:id/`, `one_${kind}`],
  ]),
];

const table = createRoutes<Operation>(lines);
const SINGLE = /^\/api\/[a-z_]+\/[^/]+\/$/;
const TASKS = new Set(["/api/documents/bulk_edit/", "/api/documents/delete/"]);

/** HEAD is answered like GET. */
export const ROUTES: Routes<Operation> = {
  find: (method, path) => {
    const found = table.find(method === "HEAD" ? "GET" : method, path);
    // A task's path is not that of a document with an odd id.
    return TASKS.has(path) && method !== "POST" ? undefined : found;
  },
  methods: (path) => (TASKS.has(path) ? ["POST"] : table.methods(path)),
};

/** The `Allow` header of a path, in the order of the real archive. */
export function allowOf(path: string): string {
  const methods = new Set(ROUTES.methods(path));
  // The real one also has PUT where it has PATCH, and changes single references.
  if (SINGLE.test(path) && !TASKS.has(path)) return "GET, PUT, PATCH, DELETE, HEAD, OPTIONS";
  return ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
    .filter((name) => name === "OPTIONS" || methods.has(name === "HEAD" ? "GET" : name))
    .join(", ");
}

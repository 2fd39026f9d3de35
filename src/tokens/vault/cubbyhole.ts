/** Per-token private storage (Vault's cubbyhole): visible to one token, deleted with it. */
import { CubbyholeFieldsSchema } from "../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Env } from "../../kernel/state/types.ts";
import { createBackend } from "../logical/backend.ts";
import { definePath } from "../logical/define-path.ts";
import { isLongerThan, parseExact, writeExact } from "../logical/json.ts";
import type { Backend, Data, Path, PathRequest } from "../logical/types.ts";
import { callerOf } from "./auth/context.ts";
import { cubbyholes } from "./mounts/tables.ts";
import type { Tokens } from "./types.ts";

/** Limits per token: bytes of a value, and number of values. */
const VALUE_BYTES = 64 * 1024;
const VALUES_MOST = 100;

export interface CubbyholeDeps {
  readonly env: Env;
  readonly tokens: Tokens;
}

export function createCubbyhole({ env, tokens }: CubbyholeDeps): Backend {
  tokens.onEnd((tx, { key }) => {
    for (const at of tx.keys(cubbyholes, { prefix: [key] })) tx.delete(cubbyholes, at);
  });
  const path: Path = definePath({
    pattern: ":path*",
    fields: CubbyholeFieldsSchema,
    unknown: "keep",
    operations: {
      read: async (request) => {
        const stored = env.read((snapshot) =>
          snapshot.get(cubbyholes, [callerOf(request).entry.key, pathOf(request)]),
        );
        return stored === undefined ? undefined : { data: parseExact(stored) as Data };
      },
      write: async (request) => {
        await store({ env, tokens }, request);
        return undefined;
      },
      delete: async (request) => {
        await env.write((tx) =>
          tx.delete(cubbyholes, [callerOf(request).entry.key, pathOf(request)]),
        );
        return undefined;
      },
      list: async (request) => ({
        data: { keys: namesBelow(env, callerOf(request).entry.key, pathOf(request)) },
      }),
    },
    synopsis: "Read, write, list and delete what the calling token stored.",
    description: "Deleted with the token.",
  });
  return createBackend({
    type: "cubbyhole",
    paths: [path],
    help: "Per-token private storage. It is deleted with its token.",
  });
}

function pathOf({ fields }: PathRequest): string {
  return fields.text("path") ?? "";
}

async function store({ env, tokens }: CubbyholeDeps, request: PathRequest): Promise<void> {
  const { entry } = callerOf(request);
  if (entry.type === "batch")
    throw new StewardError(
      "invalid",
      'cubbyhole operations are only supported by "service" type tokens',
      { rule: "token_type" },
    );
  const path = pathOf(request);
  if (path === "" || path.endsWith("/"))
    throw new StewardError("invalid", "missing path: give the path to store under", {
      field: "path",
    });
  if (isLongerThan(request.data, 2 * VALUE_BYTES)) throw tooLong("more");
  const data: Record<string, unknown> = { ...request.data };
  delete data["path"];
  if (Object.keys(data).length === 0)
    throw new StewardError("invalid", "missing data fields", { rule: "data" });
  const bytes = new TextEncoder().encode(writeExact(data));
  if (bytes.length > VALUE_BYTES) throw tooLong(String(bytes.length));
  await env.write((tx) => {
    // What is written after its token's end would be deleted by nothing.
    if (tokens.isGoneIn(tx, entry.key))
      throw new StewardError("denied", "permission denied", { rule: "token" });
    const isNew = tx.get(cubbyholes, [entry.key, path]) === undefined;
    if (
      isNew &&
      [...tx.keys(cubbyholes, { prefix: [entry.key], limit: VALUES_MOST })].length >= VALUES_MOST
    )
      throw new StewardError(
        "invalid",
        `a cubbyhole holds at most ${VALUES_MOST} values; delete one first`,
        { rule: "limit" },
      );
    tx.put(cubbyholes, [entry.key, path], bytes);
  });
}

function tooLong(bytes: string): StewardError {
  return new StewardError(
    "too_large",
    `a value in a cubbyhole has at most ${VALUE_BYTES} bytes, this one has ${bytes}`,
  );
}

function namesBelow(env: Env, key: string, prefix: string): readonly string[] {
  const names = env.read((snapshot) =>
    Array.from(snapshot.keys(cubbyholes, { prefix: [key] }), ([, path]) => path),
  );
  const below = names
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  return [
    ...new Set(
      below.map((name) => (name.includes("/") ? name.slice(0, name.indexOf("/") + 1) : name)),
    ),
  ];
}

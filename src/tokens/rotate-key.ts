/**
 * Replaces the root key of the tokens store while no daemon runs, so that the old key opens neither
 * the store nor freed pages in its file. Every step is durable before the next, and after each the
 * key file opens the store (docs/decisions/state-seal.md); an interrupted run is completed by
 * another.
 */
import { mkdir, realpath, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import { syncFolder } from "../kernel/base/system/folder.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Env, Keyring } from "../kernel/state/types.ts";
import type { TokensDeps, TokensOptions } from "./service.ts";
import { tokensStore } from "./stores.ts";
import { openAudit } from "./vault/audit/audit.ts";
import {
  keyLocations,
  newKey,
  readKey,
  replaceKey,
  writeKeyBeside,
  type KeyLocation,
} from "./vault/seal/root-key.ts";
import { assertType } from "./vault/seal/seal.ts";
import type { AuditRequest } from "./vault/types.ts";

/** Path in the audit record; no request has it. */
const AUDIT_PATH = "sys/rotate-key";
/** In the state directory, for the copy that replaces the store. */
const COPY_FOLDER = "rotate-key.tmp";

export interface RotateKeyOptions extends Pick<TokensOptions, "directory" | "seal" | "audit"> {
  /** Overrides the configured key file. */
  readonly keyFile: string | undefined;
}

export interface RotatedKey {
  /** Path of the new key. */
  readonly keyFile: string;
  /** Number of re-encrypted rows. */
  readonly rows: number;
  /** An interrupted run was completed: the key file holds the key that it created. */
  readonly resumed: boolean;
}

/** The state directory is locked by this process. */
export interface RotateKeyDeps extends Omit<TokensDeps, "observe"> {
  /** Called with a line after each durable step. */
  readonly progress: (line: string) => void;
}

/**
 * Rotates the key, or completes an interrupted rotation. Throws before any change when the key is
 * missing, wrong or not replaceable, and `not_found` for an uninitialised store.
 */
export async function rotateKey(
  deps: RotateKeyDeps,
  options: RotateKeyOptions,
  signal: AbortSignal,
): Promise<RotatedKey> {
  const { directory } = options;
  if (options.seal.type === "shamir")
    throw new StewardError(
      "unsupported",
      "the key of this store is split into shares (tokens.seal.type is shamir); it has no key file",
      {
        rule: "seal type",
        remedy: "replace it by sys/rekey while the daemon runs (docs/seal.md)",
      },
    );
  const store = join(directory, `${tokensStore.name}.mdb`);
  const found = await findKey(options);
  const run: Run = { deps, options, signal, store, found };
  await rm(join(directory, COPY_FOLDER), { recursive: true, force: true });
  let key: Uint8Array | undefined;
  try {
    const replaced = await withStore(run, (env) => replaceKeys(env, run));
    key = replaced.key;
    await replaceStore(directory, store);
    deps.progress("the store is replaced by its copy, which contains no deleted data");
    await withStore(run, async (env) =>
      (await unseal(env, { ...found, key: replaced.key, store })).settleRootKey(),
    );
    return { keyFile: found.path, rows: replaced.rows, resumed: replaced.resumed };
  } finally {
    key?.fill(0);
    found.key.fill(0);
  }
}

interface Run {
  readonly deps: RotateKeyDeps;
  readonly options: RotateKeyOptions;
  readonly signal: AbortSignal;
  /** Path of the store's file. */
  readonly store: string;
  readonly found: FoundKey;
}

async function withStore<T>({ deps, signal }: Run, use: (env: Env) => Promise<T>): Promise<T> {
  const env = await deps.state.open(tokensStore, signal);
  try {
    return await use(env);
  } finally {
    await env.close();
  }
}

interface Replaced extends Pick<RotatedKey, "rows" | "resumed"> {
  readonly key: Uint8Array;
}

/** The steps inside the open store. */
async function replaceKeys(env: Env, run: Run): Promise<Replaced> {
  const { deps, options, signal, found, store } = run;
  const { clock, ids, log, progress } = deps;
  const { directory } = options;
  assertType({ env, directory }, options.seal);
  const keyring = await unseal(env, { ...found, store });
  const resumed = keyring.status().replacing;
  const audit = await openAudit({ env, directory, clock, ids, log }, options.audit);
  try {
    const request = auditRequest(ids);
    await audit.request(request); // nothing is done without its record
    const key = resumed ? Uint8Array.from(found.key) : await exchange(keyring, found, deps);
    await keyring.replaceRootKey(key);
    progress("the store opens by the new key alone");
    const rows = await keyring.reencrypt(signal, (done) => progress(`${done} rows re-encrypted`));
    progress("the former data keys are removed");
    await audit.response(request, {});
    await copyStore(env, directory, { signal, progress });
    return { key, rows, resumed };
  } finally {
    await audit.close();
  }
}

interface FoundKey {
  /** Path with links resolved. */
  readonly path: string;
  readonly key: Uint8Array;
}

async function findKey({ directory, seal, keyFile }: RotateKeyOptions): Promise<FoundKey> {
  const configured = keyLocations({ ...seal, directory });
  const locations: readonly KeyLocation[] =
    keyFile === undefined ? configured : [{ path: keyFile, kind: "file" }];
  for (const location of locations) {
    const key = await readKey(location);
    if (key === undefined) continue;
    if (location.kind === "credential") {
      throw new StewardError(
        "denied",
        `the key is the systemd credential ${location.path}, which cannot be replaced there`,
        {
          rule: "key file",
          remedy:
            "name the file that the credential is made from with --key-file (docs/key-rotation.md)",
        },
      );
    }
    return { path: await realpath(location.path), key };
  }
  throw new StewardError("not_found", `the key file ${locations.at(-1)?.path ?? ""} is missing`, {
    rule: "key file",
    remedy:
      "put it back from where it was saved, or name the file that holds the key with --key-file",
  });
}

async function unseal(
  env: Env,
  { path, key, store }: FoundKey & { readonly store: string },
): Promise<Keyring> {
  const { keyring } = env;
  if (keyring === undefined)
    throw new StewardError("internal", `assertion failed: ${env.name} has sealed tables`);
  // Unsealing an empty store would create its keys.
  if (Object.values(env.status().rows).every((rows) => rows === 0)) {
    throw new StewardError("not_found", `the store of tokens ${store} is empty`, {
      rule: "initialized",
      remedy: "start the daemon; there is nothing to protect yet",
    });
  }
  try {
    await keyring.unseal(key);
    return keyring;
  } catch (thrown) {
    const error = toStewardError(thrown);
    if (error.code !== "denied") throw error;
    throw new StewardError("denied", `the key file ${path} does not hold the key of ${store}`, {
      rule: "root key",
      remedy: "restore the key file that belongs to this state folder, or name it with --key-file",
      cause: error,
    });
  }
}

function auditRequest(ids: Ids): AuditRequest {
  return {
    id: ids.uuid(),
    operation: "update",
    path: AUDIT_PATH,
    mount: { point: "sys/", type: "system", accessor: "sys_house", class: "secret" },
    token: undefined,
    data: undefined,
    remote: undefined,
    wrapTtlMs: undefined,
    granting: [],
    allowed: true,
  };
}

/** Replaces the key file; both keys open the store when this resolves. */
async function exchange(
  keyring: Keyring,
  { path }: FoundKey,
  { ids, progress }: RotateKeyDeps,
): Promise<Uint8Array> {
  const key = newKey(ids);
  await changeFile(path, () => writeKeyBeside(path, key));
  progress(`a new key is in ${path}.new`);
  await keyring.offerRootKey(key);
  progress("the store opens by either key");
  await changeFile(path, () => replaceKey(path));
  progress(`the new key is in ${path}`);
  return key;
}

const FOLDER_REMEDY =
  "let this user write to its folder, or copy the key into a folder of this user, " +
  "name the copy with --key-file, and put the new key back afterwards";

async function changeFile(path: string, change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (cause) {
    await unlink(`${path}.new`).catch(() => undefined);
    const { code = "" } = cause as NodeJS.ErrnoException;
    const error = toStewardError(cause);
    const why = code === "" ? error.message : code;
    const remedy =
      error.code === "disk_full" ? "free space on its disk and run it again" : FOLDER_REMEDY;
    throw new StewardError(
      error.code,
      `the key file ${path} cannot be replaced (${why}); it still opens the store`,
      {
        rule: "key file",
        remedy,
        cause,
      },
    );
  }
}

interface Watch {
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/**
 * Freed pages keep old contents, among them the keyring wrapped with the old key; a copy contains
 * only rows.
 */
async function copyStore(env: Env, directory: string, { signal, progress }: Watch): Promise<void> {
  const folder = join(directory, COPY_FOLDER);
  await mkdir(folder, { mode: 0o700 });
  await env.backup(folder, signal);
  progress("copying the store");
}

async function replaceStore(directory: string, store: string): Promise<void> {
  const folder = join(directory, COPY_FOLDER);
  await rm(`${store}-lock`, { force: true });
  await rename(join(folder, `${tokensStore.name}.mdb`), store);
  syncFolder(directory);
  await rm(folder, { recursive: true, force: true });
}

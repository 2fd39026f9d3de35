/**
 * The key that opens the store of tokens, as a file: where it is looked for, what such a file must
 * be like, how the first one is made, and how another one takes its place. 32 random bytes, written
 * as base64; hexadecimal is read as well.
 */
import { constants } from "node:fs";
import { link, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import { syncFolder } from "../../../kernel/base/system/folder.ts";
import type { Ids } from "../../../kernel/base/ids.ts";

/** The name of the key in the state folder, and of the systemd credential. */
const KEY_NAME = "tokens.key";
const KEY_BYTES = 32;
/** A key takes at most 64 characters; the rest allows for whitespace. */
const MAX_FILE_LENGTH = 1_024;

/** Where a key is expected. */
export interface KeyLocation {
  readonly path: string;
  /** `state-directory` may be created by Steward; the other kinds are provided by the operator. */
  readonly kind: "state-directory" | "file" | "credential";
}

/** Key files by rank: the configured one, the systemd credential, the state folder's. */
export function keyLocations(options: {
  readonly directory: string;
  readonly keyFile: string | undefined;
  readonly credentials: string | undefined;
}): readonly KeyLocation[] {
  if (options.keyFile !== undefined) return [{ path: options.keyFile, kind: "file" }];
  const credential: KeyLocation[] =
    options.credentials === undefined
      ? []
      : [{ path: join(options.credentials, KEY_NAME), kind: "credential" }];
  return [...credential, { path: join(options.directory, KEY_NAME), kind: "state-directory" }];
}

/** The key in text, hexadecimal or base64 of either alphabet; undefined when it is none. */
export function parseKey(text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return Buffer.from(trimmed, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined;
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === KEY_BYTES ? bytes : undefined;
}

/**
 * The key of a place; undefined when nothing is there. Throws `invalid` naming the file and the
 * remedy for what must not be used.
 */
export async function readKey(location: KeyLocation): Promise<Uint8Array | undefined> {
  const { path, kind } = location;
  let file: FileHandle | undefined;
  try {
    // Steward's own key file must not be a link; a mounted one may be.
    file = await open(
      path,
      constants.O_RDONLY |
        constants.O_NONBLOCK |
        (kind === "state-directory" ? constants.O_NOFOLLOW : 0),
    );
    const stat = await file.stat();
    if (!stat.isFile()) throw unusable(path, "is no file", "name a file");
    if (kind !== "credential") assertPrivate(location, stat);
    if (stat.size > MAX_FILE_LENGTH)
      throw unusable(path, `has ${stat.size} bytes`, "put nothing but the key in it");
    const key = parseKey(await file.readFile("utf8"));
    if (key === undefined)
      throw unusable(
        path,
        "does not hold 32 bytes in hexadecimal or base64",
        "restore it from where it was saved",
      );
    return key;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof StewardError) throw error;
    if (code === "ENOENT") return undefined;
    throw unusable(
      path,
      code === "ELOOP"
        ? "is a symbolic link"
        : `cannot be read (${code ?? toStewardError(error).message})`,
      code === "ELOOP"
        ? "put the key itself there, or name its file in tokens.seal.key_file"
        : "let Steward's user read it",
      error,
    );
  } finally {
    await file?.close();
  }
}

/**
 * Makes the first key of a state folder: whole under its name or not there at all, and on the disk.
 * Throws `conflict` when one is there.
 */
export async function makeKey(location: KeyLocation, ids: Ids): Promise<Uint8Array> {
  const key = newKey(ids);
  try {
    const fresh = await writeKeyBeside(location.path, key);
    await link(fresh, location.path);
    await unlink(fresh);
    syncFolder(dirname(location.path));
    return key;
  } catch (error) {
    const { code } = toStewardError(error);
    const there = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new StewardError(
      there ? "conflict" : code,
      `the key of the tokens service could not be created at ${location.path}${there ? ": the file already exists" : ""}`,
      {
        rule: "key file",
        remedy:
          code === "disk_full"
            ? "free space on its disk"
            : "let Steward's user write to the state folder",
        cause: error,
      },
    );
  }
}

/** 32 random bytes. */
export function newKey(ids: Ids): Uint8Array {
  return ids.bytes(KEY_BYTES);
}

/**
 * Writes a key to `<path>.new` (0600), on the disk when it resolves with that name; replaces what
 * an earlier run left there. Throws what the system throws.
 */
export async function writeKeyBeside(path: string, key: Uint8Array): Promise<string> {
  const fresh = `${path}.new`;
  await unlink(fresh).catch(() => undefined);
  const file = await open(
    fresh,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await file.writeFile(`${Buffer.from(key).toString("base64")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  syncFolder(dirname(path));
  return fresh;
}

/**
 * Puts the key of `writeKeyBeside` in the place of the one at the path, at once and on the disk
 * when it resolves. Throws what the system throws.
 */
export async function replaceKey(path: string): Promise<void> {
  await rename(`${path}.new`, path);
  syncFolder(dirname(path));
}

function assertPrivate(
  { path, kind }: KeyLocation,
  { mode, uid }: { readonly mode: number; readonly uid: number },
): void {
  const bits = (mode & 0o777).toString(8).padStart(4, "0");
  const others = kind === "state-directory" ? 0o077 : 0o007;
  if ((mode & others) !== 0)
    throw unusable(
      path,
      `has mode ${bits}: others can use it`,
      `chmod 600 ${path}, and think about who has read it`,
    );
  const own = process.geteuid?.();
  if (own !== undefined && uid !== own && uid !== 0)
    throw unusable(
      path,
      `belongs to user ${uid}, not to Steward's (${own})`,
      // Root must not take it from the user that Steward runs as at other times.
      own === 0 ? "run Steward as that user" : `chown ${own} ${path}`,
    );
}

function unusable(path: string, why: string, remedy: string, cause?: unknown): StewardError {
  return new StewardError("invalid", `the key file ${path} ${why}`, {
    rule: "key file",
    remedy,
    ...(cause === undefined ? {} : { cause }),
  });
}

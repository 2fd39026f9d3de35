/**
 * Downloads an edition of a geo database as its vendor publishes it: an archive beside its SHA-256
 * (https://dev.maxmind.com/geoip/updating-databases/). What is installed is checked first, and
 * replaced at once.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createTarDecoder } from "modern-tar";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";
import { receiveSecret } from "../../kernel/threads/secrets.ts";
import { MAX_DATABASE_MIB, openDatabase } from "./database.ts";
import { databaseOf, pathOf } from "./editions.ts";
import { createOrigin, type Answer } from "./origin.ts";
import type { DownloadResult, GeoDownloadOptions } from "./types.ts";

const MEBIBYTE = 1_048_576;
const MAX_ARCHIVE_MIB = 256;
const MAX_CHECKSUM_BYTES = 1_024;
const MAX_DATABASE = MAX_DATABASE_MIB * MEBIBYTE;

export interface DownloadDeps {
  readonly clock: Clock;
  readonly version: string;
}

/**
 * Installs the edition if the vendor has a newer one. Rejects with a client failure, `invalid` for
 * what is no such database, or the signal's reason; what was installed before then stays.
 */
export async function download(
  { clock, version }: DownloadDeps,
  options: GeoDownloadOptions,
  edition: string,
  signal: AbortSignal,
): Promise<DownloadResult> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const parts = ["archive", "mmdb"].map((part) =>
    join(options.directory, `.${edition}.${part}.part`),
  );
  const [archive = "", fresh = ""] = parts;
  const timeoutMs = options.timeoutMs;
  const reason = (): StewardError =>
    new StewardError("deadline", `the download took longer than ${timeoutMs} ms`);
  try {
    return await withDeadline({ clock, timeoutMs, signal, reason }, async (ending) => {
      await using origin = await createOrigin(version, options, receiveSecret(options.licenseKey));
      const path = (suffix: string): string => `/${edition}/download?suffix=${suffix}`;
      const answer = await origin.get(
        path("tar.gz"),
        await sinceOf(options, edition, ending),
        ending,
      );
      if (answer.status === 304) return "unmodified";
      const found = await save(answer, archive);
      const wanted = await checksum(await origin.get(path("tar.gz.sha256"), undefined, ending));
      if (found !== wanted)
        throw new StewardError(
          "invalid",
          `the archive's SHA-256 is ${found}, the vendor's is ${wanted}`,
        );
      await extract(archive, fresh, ending);
      await openDatabase(databaseOf(edition), fresh, ending);
      await install(fresh, pathOf(options, edition), answer.modified);
      return "updated";
    });
  } finally {
    for (const part of parts) await rm(part, { force: true });
  }
}

/** The time of the installed file, in the form of HTTP; undefined where it cannot be used. */
async function sinceOf(
  options: GeoDownloadOptions,
  edition: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = pathOf(options, edition);
  try {
    const { mtime } = await stat(path);
    await openDatabase(databaseOf(edition), path, signal);
    return mtime.toUTCString();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Writes the body to a file; gives its SHA-256 in hexadecimal. */
async function save(answer: Answer, path: string): Promise<string> {
  const hash = createHash("sha256");
  await using file = await open(path, "w", 0o600);
  let size = 0;
  for await (const piece of answer.body) {
    size += piece.length;
    if (size > MAX_ARCHIVE_MIB * MEBIBYTE)
      throw new StewardError("invalid", `the archive is larger than ${MAX_ARCHIVE_MIB} MiB`);
    hash.update(piece);
    await file.writeFile(piece);
  }
  return hash.digest("hex");
}

async function checksum(answer: Answer): Promise<string> {
  let text = "";
  for await (const piece of answer.body) {
    text += Buffer.from(piece).toString("latin1");
    if (text.length > MAX_CHECKSUM_BYTES) break;
  }
  const [first = ""] = text.trimStart().split(/\s/, 1);
  if (/^[0-9a-f]{64}$/i.test(first)) return first.toLowerCase();
  throw new StewardError("invalid", "the vendor's answer is no SHA-256");
}

/** Writes the archive's database to `target`; other members are not looked at. */
async function extract(archive: string, target: string, signal: AbortSignal): Promise<void> {
  const unpacked = (
    Readable.toWeb(createReadStream(archive, { signal })) as ReadableStream<Uint8Array<ArrayBuffer>>
  ).pipeThrough(new DecompressionStream("gzip"));
  let found = false;
  try {
    for await (const { header, body } of unpacked.pipeThrough(createTarDecoder())) {
      if (found || header.type !== "file" || !header.name.endsWith(".mmdb")) {
        await body.cancel();
        continue;
      }
      found = true;
      await writeMember(body, target);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StewardError) throw error;
    throw new StewardError("invalid", "the archive is damaged", { cause: error });
  }
  if (!found) throw new StewardError("invalid", "the archive has no database");
}

async function writeMember(body: ReadableStream<Uint8Array>, target: string): Promise<void> {
  await using file = await open(target, "w", 0o600);
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MAX_DATABASE)
      throw new StewardError("invalid", `the database is larger than ${MAX_DATABASE_MIB} MiB`);
    await file.writeFile(piece);
  }
  await file.sync();
}

async function install(fresh: string, path: string, modified: Date | undefined): Promise<void> {
  if (modified !== undefined) await utimes(fresh, modified, modified);
  await rename(fresh, path);
}

/**
 * Lists and prunes the backups of one state folder. Each is a subfolder named after its time and
 * the id of its state folder, as several may keep theirs in one folder; complete ones have a
 * manifest.
 */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { StewardError, systemCodeOf, toStewardError } from "../../base/errors.ts";
import { isDatedAhead } from "./backup-times.ts";
import { MANIFEST } from "./folder-backup.ts";
import type { BackupManifest } from "./folder-backup.ts";
import { stateId } from "./state-id.ts";

/** Those without an id are of an earlier Steward and count as this state folder's. */
const NAME = /^steward-\d{8}T\d{6}Z(?:-([0-9a-f]{8}))?$/;

export interface KeptBackup {
  readonly name: string;
  readonly madeAtMs: number;
}

export class KeptBackups {
  readonly #directory: string;
  readonly #stateDirectory: string;
  /** Complete ones and when they were made; a manifest is read once. */
  readonly #complete = new Map<string, number>();
  #id: string | undefined;

  constructor(directory: string, stateDirectory: string) {
    this.#directory = directory;
    this.#stateDirectory = stateDirectory;
  }

  /** The name of a new one. */
  async nameAt(atMs: number): Promise<string> {
    const time = new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    return `steward-${time}-${await this.#ownId()}`;
  }

  /** Complete backups, newest first; other files are ignored. Throws when they cannot be listed. */
  async list(): Promise<KeptBackup[]> {
    const names = await this.#names();
    for (const name of this.#complete.keys())
      if (!names.includes(name)) this.#complete.delete(name);
    for (const name of names) {
      const madeAtMs = this.#complete.get(name) ?? (await this.#read(name));
      if (typeof madeAtMs === "number") this.#complete.set(name, madeAtMs);
    }
    return Array.from(this.#complete, ([name, madeAtMs]) => ({ name, madeAtMs })).sort(
      (left, right) => right.madeAtMs - left.madeAtMs,
    );
  }

  /** Removes interrupted backups; no backup of this state folder may be running. */
  async removeIncomplete(): Promise<void> {
    for (const name of await this.#names())
      if (!this.#complete.has(name) && (await this.#read(name)) === "missing")
        await rm(join(this.#directory, name), { recursive: true, force: true });
  }

  /**
   * Keeps this one and the newest others, `keep` in all; returns the names removed. Backups dated
   * after `nowMs` count as the oldest, so that they do not displace new ones.
   */
  async removeOldest({
    keep,
    fresh,
    nowMs,
  }: {
    readonly keep: number;
    readonly fresh: string;
    readonly nowMs: number;
  }): Promise<string[]> {
    const others = (await this.list()).filter(({ name }) => name !== fresh);
    const old = [
      ...others.filter(({ madeAtMs }) => !isDatedAhead(madeAtMs, nowMs)),
      ...others.filter(({ madeAtMs }) => isDatedAhead(madeAtMs, nowMs)),
    ].slice(keep - 1);
    for (const { name } of old) {
      await rm(join(this.#directory, name, MANIFEST), { force: true }); // half taken away, it must not look complete
      this.#complete.delete(name);
      await rm(join(this.#directory, name), { recursive: true, force: true });
    }
    return old.map(({ name }) => name);
  }

  async #ownId(): Promise<string> {
    return (this.#id ??= await stateId(this.#stateDirectory));
  }

  async #names(): Promise<string[]> {
    const own = await this.#ownId();
    try {
      return (await readdir(this.#directory)).filter((name) => {
        const [matched, id = own] = NAME.exec(name) ?? [];
        return matched !== undefined && id === own;
      });
    } catch (cause) {
      const code = systemCodeOf(cause);
      if (code === "ENOENT") return [];
      throw new StewardError(
        toStewardError(cause).code,
        `the backups in ${this.#directory} cannot be listed (${code ?? "unknown error"})`,
        {
          remedy: "let Steward's user read and write that folder, or set state.backup.directory",
          cause,
        },
      );
    }
  }

  /** When it was made, by its manifest. One that cannot be read may belong to a complete backup. */
  async #read(name: string): Promise<number | "missing" | "unreadable"> {
    try {
      const text = await readFile(join(this.#directory, name, MANIFEST), "utf8");
      const { madeAtMs } = JSON.parse(text) as Partial<BackupManifest>;
      return typeof madeAtMs === "number" ? madeAtMs : "unreadable";
    } catch (error) {
      return systemCodeOf(error) === "ENOENT" ? "missing" : "unreadable";
    }
  }
}

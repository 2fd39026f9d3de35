/**
 * The certificate and key of a listener, reloaded while it listens. Compares contents instead of
 * file times, which also detects a swapped symlink, a file written in place within one clock tick
 * and one that comes back.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { toStewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { parsePair, readPair, type KeyPair, type PairTexts, type TlsFiles } from "./key-pair.ts";

/**
 * State of a listener's certificate, for status pages and alerts. Times in milliseconds since 1970.
 */
export interface CertificateStatus {
  /** SHA-256 of the leaf's DER, lower-case hex. */
  readonly fingerprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** When another pair was taken into use; undefined while the first one is in use. */
  readonly lastReloadAt: number | undefined;
  /** When the pair in use was taken into use. */
  readonly loadedAt: number;
  /** How often the files were found unusable, each state of them once. */
  readonly failures: number;
  /** When the files were last found unusable. They may be good again since. */
  readonly lastFailureAt: number | undefined;
  /** The reason; empty as long as there was no failure. */
  readonly lastFailure: string;
}

export interface Certificates {
  /** Reads the pair and starts watching it. Throws `invalid` when it is unusable. */
  start(): Promise<void>;
  /** For the next handshake. Undefined before `start`. */
  pair(): KeyPair | undefined;
  status(): CertificateStatus | undefined;
  stop(): void;
}

/** Reload interval in milliseconds. */
export const RELOAD_MS = 5000;

/** Watches the pair of `files`. An unusable one is logged once and never replaces a good one. */
export function createCertificates(
  files: TlsFiles,
  deps: { clock: Clock; log: Log },
  everyMs: number = RELOAD_MS,
): Certificates {
  return new WatchedPair(files, deps, everyMs);
}

class WatchedPair implements Certificates {
  readonly #files: TlsFiles;
  readonly #deps: { clock: Clock; log: Log };
  readonly #everyMs: number;
  #pair: KeyPair | undefined;
  /** Of the texts in use, and of those last refused: the same texts are not judged twice. */
  #used = "";
  #refused = "";
  #lastReloadAt: number | undefined;
  #loadedAt = 0;
  #failures = 0;
  #lastFailureAt: number | undefined;
  #lastFailure = "";
  #timer: Disposable | undefined;
  #stopped = false;

  constructor(files: TlsFiles, deps: { clock: Clock; log: Log }, everyMs: number) {
    this.#files = files;
    this.#deps = deps;
    this.#everyMs = everyMs;
  }

  async start(): Promise<void> {
    const texts = await readPair(this.#files);
    this.#pair = parsePair(texts, this.#files);
    this.#used = digest(texts);
    this.#loadedAt = this.#deps.clock.now();
    this.#arm();
  }

  pair(): KeyPair | undefined {
    return this.#pair;
  }

  status(): CertificateStatus | undefined {
    if (this.#pair === undefined) return undefined;
    const { leaf } = this.#pair;
    return {
      fingerprint: createHash("sha256").update(leaf.raw).digest("hex"),
      notBefore: Date.parse(leaf.validFrom),
      notAfter: Date.parse(leaf.validTo),
      lastReloadAt: this.#lastReloadAt,
      loadedAt: this.#loadedAt,
      failures: this.#failures,
      lastFailureAt: this.#lastFailureAt,
      lastFailure: this.#lastFailure,
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
  }

  #arm(): void {
    const { clock } = this.#deps;
    if (!this.#stopped)
      this.#timer = clock.timer(
        clock.monotonic() + this.#everyMs,
        () => void this.#look().finally(() => this.#arm()),
      );
  }

  async #look(): Promise<void> {
    let seen = "unreadable";
    try {
      const texts = await readPair(this.#files);
      seen = digest(texts);
      if (seen === this.#used) this.#refused = "";
      else if (seen !== this.#refused) this.#replace(parsePair(texts, this.#files), seen);
    } catch (error) {
      this.#report(toStewardError(error).message, seen);
    }
  }

  #replace(pair: KeyPair, seen: string): void {
    this.#pair = pair;
    this.#used = seen;
    this.#refused = "";
    this.#lastReloadAt = this.#deps.clock.now();
    this.#loadedAt = this.#lastReloadAt;
    this.#deps.log.info("reloaded the certificate", {
      file: this.#files.certFile,
      not_after: pair.leaf.validToDate.toISOString(),
    });
  }

  #report(reason: string, seen: string): void {
    this.#lastFailureAt = this.#deps.clock.now();
    const known = seen === this.#refused && reason === this.#lastFailure;
    this.#refused = seen;
    this.#lastFailure = reason;
    if (known) return;
    this.#failures += 1;
    this.#deps.log.warn("cannot reload the certificate; the last good one stays in use", {
      reason,
    });
  }
}

function digest(texts: PairTexts): string {
  return createHash("sha256").update(texts.cert).update("\0").update(texts.key).digest("base64");
}

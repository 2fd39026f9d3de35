/**
 * Reads an exporter's credentials again from their files. A file that cannot be used keeps the last
 * good ones; values are never logged.
 */
import { createHash } from "node:crypto";
import { validateHeaderValue } from "node:http";
import { createSecureContext } from "node:tls";
import { readPlainFile } from "../../../listen/tls/key-pair.ts";
import type { WireReload, WireTarget } from "../options.ts";

/** The parts of a target that can be renewed. */
export type Renewed = Pick<WireTarget, "tls" | "headers">;

/** The result of one check. */
export type CredentialCheck<T extends Renewed> =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly target: T }
  | { readonly kind: "unusable"; readonly reason: string };

/** Reads all files of a target and compares them with what is in use. */
export class Credentials<T extends Renewed = WireTarget> {
  readonly #first: T;
  readonly #reload: WireReload;
  #used: string;

  constructor(target: T, reload: WireReload) {
    this.#first = target;
    this.#reload = reload;
    this.#used = digest(target);
  }

  /** Never rejects. A reason names files, never their contents. */
  async check(): Promise<CredentialCheck<T>> {
    try {
      const target = await this.#read();
      const seen = digest(target);
      if (seen === this.#used) return { kind: "same" };
      this.#used = seen;
      return { kind: "changed", target };
    } catch (error) {
      return { kind: "unusable", reason: error instanceof Error ? error.message : "unknown" };
    }
  }

  async #read(): Promise<T> {
    const { caFile, certFile, keyFile, headerFiles, basic } = this.#reload;
    const [ca, cert, key] = await Promise.all(
      [caFile, certFile, keyFile].map((file) =>
        file === undefined ? Promise.resolve(undefined) : readPlainFile(file),
      ),
    );
    const tls = {
      ...this.#first.tls,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    checkTls(
      tls,
      [caFile, certFile, keyFile].filter((file) => file !== undefined),
    );
    const headers: Record<string, string> = { ...this.#first.headers };
    for (const [name, file] of Object.entries(headerFiles))
      headers[name] = headerValue((await readPlainFile(file)).trim(), file);
    if (basic !== undefined)
      headers["authorization"] =
        `Basic ${Buffer.from(`${basic.user}:${headerValue((await readPlainFile(basic.passwordFile)).trim(), basic.passwordFile)}`).toString("base64")}`;
    return { ...this.#first, tls, headers };
  }
}

// OpenSSL's message is omitted: it may quote the key.
function checkTls({ ca, cert, key }: WireTarget["tls"], files: readonly string[]): void {
  try {
    createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch {
    throw new Error(
      `${files.join(", ")}: not valid PEM for TLS, or a key that does not belong to its certificate`,
    );
  }
}

function headerValue(value: string, file: string): string {
  if (value === "") throw new Error(`${file} is empty`);
  try {
    validateHeaderValue("x", value);
    return value;
  } catch {
    throw new Error(`${file} holds characters that a header cannot carry`);
  }
}

function digest({ tls, headers }: Renewed): string {
  return createHash("sha256")
    .update(
      JSON.stringify([
        tls.ca ?? "",
        tls.cert ?? "",
        tls.key ?? "",
        Object.entries(headers).toSorted(([left], [right]) => (left < right ? -1 : 1)),
      ]),
    )
    .digest("base64");
}

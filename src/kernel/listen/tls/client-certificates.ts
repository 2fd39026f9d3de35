/** Client certificates of a port: the mode, and the CA file, reloaded while the port is open. */
import { createSecureContext, type TLSSocket } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { StewardError, toStewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failedFor } from "../../base/log/outage.ts";
import { readPlainFile } from "./key-pair.ts";

/**
 * `none` does not request one; `request` requests one and accepts anything; `require` accepts any
 * certificate; `verify_if_given` accepts none or one signed by the authorities;
 * `require_and_verify` only such a one.
 */
export type ClientAuth = "none" | "request" | "require" | "verify_if_given" | "require_and_verify";

export interface ClientCertificates {
  readonly mode: ClientAuth;
  /** PEM certificates of authorities. Required by the two modes that verify. */
  readonly caFile?: string;
}

/** The authorities in use. */
export interface ClientAuthorities {
  /** Reads the file and starts watching it. Throws `invalid` when it is unusable. */
  start(): Promise<void>;
  /** The PEM text; undefined while the file is unusable: then no client is accepted. */
  current(): string | undefined;
  stop(): void;
}

/** Whether the handshake requests a certificate. */
export function requestsCertificate(mode: ClientAuth): boolean {
  return mode !== "none";
}

/** Whether a client may proceed after its handshake. */
export function isClientAccepted(
  mode: ClientAuth,
  socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate">,
): boolean {
  const given = socket.getPeerX509Certificate() !== undefined;
  switch (mode) {
    case "none":
    case "request":
      return true;
    case "require":
      return given;
    case "verify_if_given":
      return !given || socket.authorized;
    case "require_and_verify":
      return given && socket.authorized;
  }
}

/**
 * Watches a CA file. While it is unusable `current` is undefined: a port that cannot verify must
 * not accept.
 */
export function createClientAuthorities(
  file: string,
  deps: { clock: Clock; log: Log },
  everyMs: number,
): ClientAuthorities {
  let text: string | undefined;
  let timer: Disposable | undefined;
  let stopped = false;
  let lastReason = "";
  /** Monotonic time at which the file was first unusable; undefined while it is usable. */
  let failedAtMs: number | undefined;
  const look = async (): Promise<void> => {
    try {
      const read = parseAuthorities(await readPlainFile(file), file);
      if (failedAtMs !== undefined)
        deps.log.info("client certificates are accepted again", {
          file,
          ...failedFor(deps.clock, failedAtMs),
        });
      failedAtMs = undefined;
      text = read;
      lastReason = "";
    } catch (error) {
      text = undefined;
      failedAtMs ??= deps.clock.monotonic();
      const { message } = toStewardError(error);
      if (message !== lastReason)
        deps.log.warn("cannot use the CA file of client certificates; all clients are refused", {
          reason: message,
        });
      lastReason = message;
    }
  };
  const arm = (): void => {
    if (!stopped)
      timer = deps.clock.timer(deps.clock.monotonic() + everyMs, () => void look().finally(arm));
  };
  return {
    async start() {
      text = parseAuthorities(await readPlainFile(file), file);
      arm();
    },
    current: () => text,
    stop() {
      stopped = true;
      timer?.[Symbol.dispose]();
    },
  };
}

function parseAuthorities(text: string, file: string): string {
  try {
    if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error("no certificate");
    createSecureContext({ ca: text });
    return text;
  } catch {
    throw new StewardError("invalid", `${file} contains no complete CA certificate`, {
      rule: "client_ca",
      remedy: "put the PEM certificates of the CAs that sign client certificates there",
    });
  }
}

/** Binds ports and Unix sockets, with clear errors. */
import { chmodSync } from "node:fs";
import type { Server } from "node:net";
import { StewardError, toStewardError } from "../base/errors.ts";
import { formatAddress, isLoopback, type Address } from "../config/values/address.ts";
import { MAX_SOCKET_PATH_BYTES } from "./socket-path.ts";

/**
 * A Unix socket: only processes of the same user, and root's, can connect. A file of that name must
 * not exist.
 */
export interface SocketPath {
  readonly path: string;
}

/** An address to bind, and its configuration key. */
export interface Binding {
  readonly setting: string;
  readonly address: Address | SocketPath;
  readonly credential: boolean;
}

/** Accept queue of the system, which may use a shorter one. */
const BACKLOG = 4096;

/** Throws `invalid` for a non-loopback address without a credential. */
export function refuseOpenAddress(spec: Binding): void {
  const { address, credential } = spec;
  if (credential || "path" in address || isLoopback(address.host)) return;
  throw new StewardError(
    "invalid",
    `${spec.setting}: ${formatAddress(address)} can be reached from other machines and no credential is set`,
    {
      field: spec.setting,
      rule: "without a credential only loopback addresses are listened on",
      remedy: "set auth.token, or listen on 127.0.0.1",
    },
  );
}

/** Rejects with `conflict`, `denied` or `invalid`, naming address and remedy. */
export function bind(front: Server, spec: Binding): Promise<void> {
  const { address } = spec;
  if ("path" in address) return bindSocket(front, address.path);
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(describeBindFailure(error, address, spec.setting));
    front.once("error", failed);
    const host = address.host === "" ? {} : { host: address.host };
    front.listen({ port: address.port, backlog: BACKLOG, ...host }, () => {
      front.off("error", failed);
      resolve();
    });
  });
}

async function bindSocket(front: Server, path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES)
    throw new StewardError(
      "invalid",
      `the path of the socket ${path} has ${bytes} bytes; a Unix socket has at most ${MAX_SOCKET_PATH_BYTES}`,
      { field: "state.directory", remedy: "use a state folder with a shorter path" },
    );
  await new Promise<void>((resolve, reject) => {
    front.once("error", reject).listen({ path, backlog: BACKLOG }, () => {
      front.off("error", reject);
      resolve();
    });
  });
  chmodSync(path, 0o600);
}

function describeBindFailure(error: Error, address: Address, setting: string): StewardError {
  const where = formatAddress(address);
  const other = `set ${setting} to another address`;
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new StewardError("conflict", `${where} is already in use by another process`, {
        field: setting,
        remedy: `stop that process, or ${other}`,
        cause: error,
      });
    case "EACCES":
      return new StewardError("denied", `this user may not listen on ${where}`, {
        field: setting,
        remedy: other,
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StewardError("invalid", `${where} is no address of this machine`, {
        field: setting,
        remedy: other,
        cause: error,
      });
    default:
      return toStewardError(error);
  }
}

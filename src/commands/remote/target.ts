/** Which running daemon a command talks to, and with which credential. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configureDaemon } from "../../daemon/configuration.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { MAX_SOCKET_PATH_BYTES, OWNER_SOCKET } from "../../kernel/listen/socket-path.ts";
import { withFoundFile } from "../config-search.ts";
import type { RemoteArguments } from "./options.ts";

/** The rule of errors for a daemon that could not be asked. */
export const UNREACHABLE = "daemon_unreachable";

/** Where to send requests. */
export interface Target {
  readonly base: URL;
  /** Undefined where `base` is the way. */
  readonly socketPath: string | undefined;
  readonly token: Secret | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/**
 * The daemon's address, or its socket. Throws `invalid` for a configuration or a file that cannot
 * be used.
 */
export function targetOf(options: RemoteArguments, environment: Environment): Target {
  if (options.address !== undefined)
    return {
      base: options.address,
      socketPath: undefined,
      token:
        options.tokenFile === undefined ? undefined : readToken(options.tokenFile, "--token-file"),
      ca: options.caFile === undefined ? undefined : readText(options.caFile, "--ca-file"),
    };
  return socketOf(configureDaemon(withFoundFile(options, environment), environment).stateDirectory);
}

/** The daemon of a state folder. Throws `invalid` when its path is too long for a socket. */
export function socketOf(stateDirectory: string): Target {
  const socketPath = join(stateDirectory, OWNER_SOCKET);
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES)
    throw new StewardError(
      "invalid",
      `the path of the daemon's socket, ${socketPath}, is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that a Unix socket allows`,
      {
        rule: UNREACHABLE,
        remedy: "name the daemon's --address, or give it a shorter state.directory",
      },
    );
  return { base: new URL("http://localhost"), socketPath, token: undefined, ca: undefined };
}

/** The trimmed content of a file that holds one secret. `what` names the file in errors. */
export function readToken(file: string, what = "the token's file"): Secret {
  const text = readText(file, what).trim();
  if (text === "" || /\s/.test(text))
    throw new StewardError("invalid", `${file} must hold one token and nothing else`);
  return Secret.of(text, file);
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StewardError(
      "invalid",
      `${what} ${file} cannot be read: ${toStewardError(error).message}`,
      { cause: error },
    );
  }
}

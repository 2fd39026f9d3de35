/** Which running daemon a command talks to, and with which credential. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER_SOCKET } from "../../daemon/listeners/owner-socket.ts";
import { configureDaemon, type DaemonArguments } from "../../daemon/configuration.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../kernel/listen/bind.ts";
import { stateArguments, stateOptions, type Misuse } from "../command.ts";
import { withFoundFile } from "../config-search.ts";
import type { OptionTable, ParsedOptions } from "../options.ts";

/** The rule of errors for a daemon that could not be asked. */
export const UNREACHABLE = "daemon_unreachable";

/** Options of every command that asks a running daemon. */
export const remoteOptions: OptionTable = {
  ...stateOptions,
  address: { value: "text" },
  "token-file": { value: "text", goesWith: "address" },
  "ca-file": { value: "text", goesWith: "address" },
  json: {},
};

/** The lines about them in the help. */
export const REMOTE_HELP = `  --address URL   ask the daemon at this address, e.g. https://nas.lan:8400;
                  without it, the one on this machine is asked through the
                  socket in its state folder
  --token-file FILE
                  with --address: the file that holds its auth.token
  --ca-file FILE  with --address: PEM file of the authority that signed its
                  certificate
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          ask the demo
  --json          print JSON
  --help          print this text
`;

export interface RemoteArguments extends DaemonArguments {
  readonly address: URL | undefined;
  readonly tokenFile: string | undefined;
  readonly caFile: string | undefined;
  readonly json: boolean;
}

/** Where to send requests. */
export interface Target {
  readonly base: URL;
  /** Undefined where `base` is the way. */
  readonly socketPath: string | undefined;
  readonly token: Secret | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/** Reads the options of `remoteOptions`. Throws what `misuse` returns. */
export function remoteArguments(parsed: ParsedOptions, misuse: Misuse): RemoteArguments {
  const { texts, switches } = parsed;
  const given = texts.get("address") || undefined;
  const address = given === undefined ? undefined : URL.parse(given);
  if (address === null || (address !== undefined && !isAddress(address)))
    throw misuse(
      "--address must be a URL such as http://127.0.0.1:8400, without user, path or query",
    );
  return {
    ...stateArguments(parsed),
    address,
    tokenFile: texts.get("token-file") || undefined,
    caFile: texts.get("ca-file") || undefined,
    json: switches.has("json"),
  };
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
      token: options.tokenFile === undefined ? undefined : readToken(options.tokenFile),
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
      { rule: UNREACHABLE, remedy: "name the daemon's --address, or give it a shorter state.directory" },
    );
  return { base: new URL("http://localhost"), socketPath, token: undefined, ca: undefined };
}

/** The trimmed content of a file that holds one secret. */
export function readToken(file: string): Secret {
  const text = readText(file, "the token's file").trim();
  if (text === "" || /\s/.test(text))
    throw new StewardError("invalid", `${file} must hold one token and nothing else`);
  return Secret.of(text, file);
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StewardError("invalid", `${what}: ${toStewardError(error).message}`, {
      cause: error,
    });
  }
}

function isAddress({ protocol, username, password, pathname, search, hash }: URL): boolean {
  return (
    /^https?:$/.test(protocol) &&
    username + password + search + hash === "" &&
    pathname === "/"
  );
}

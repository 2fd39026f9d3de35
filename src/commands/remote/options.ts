/** The options of every command that asks a running daemon. */
import { stateArguments, stateOptions, type Misuse } from "../command.ts";
import type { DaemonArguments } from "../../daemon/configuration.ts";
import { shellWord } from "../../kernel/base/text/shell-word.ts";
import type { OptionTable, ParsedOptions } from "../options.ts";

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

/** Reads the options of `remoteOptions`. Throws what `misuse` returns. */
export function remoteArguments(parsed: ParsedOptions, misuse: Misuse): RemoteArguments {
  const { texts, switches } = parsed;
  for (const name of ["address", "token-file", "ca-file"])
    if (texts.get(name) === "") throw misuse(`--${name} must not be empty`);
  const given = texts.get("address");
  const address = given === undefined ? undefined : URL.parse(given);
  if (address === null || (address !== undefined && !isAddress(address)))
    throw misuse(
      "--address must be a URL such as http://127.0.0.1:8400, without user, path or query",
    );
  return {
    ...stateArguments(parsed),
    address,
    tokenFile: texts.get("token-file"),
    caFile: texts.get("ca-file"),
    json: switches.has("json"),
  };
}

/** For the end of a command that is shown: it then asks the same daemon. Empty or begins with a space. */
export function sameDaemon({ address, tokenFile, caFile, config, demo }: RemoteArguments): string {
  return [
    ...(address === undefined ? [] : ["--address", address.origin]),
    ...(tokenFile === undefined ? [] : ["--token-file", tokenFile]),
    ...(caFile === undefined ? [] : ["--ca-file", caFile]),
    ...(config === undefined ? [] : ["--config", config]),
    ...(demo ? ["--demo"] : []),
  ]
    .map((word) => ` ${shellWord(word)}`)
    .join("");
}

function isAddress({ protocol, username, password, pathname, search, hash }: URL): boolean {
  return (
    /^https?:$/.test(protocol) && username + password + search + hash === "" && pathname === "/"
  );
}

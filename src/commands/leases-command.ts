/** Declares `steward leases`. */
import { defineCommand, quote, refuseOperands, type Misuse } from "./command.ts";
import type { ParsedOptions } from "./options.ts";
import type { LeasesArguments } from "./remote/leases.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

const DEFAULT_LIMIT = 100;

export const leasesCommand = defineCommand({
  name: "leases",
  usage: "leases list|revoke",
  summary: "list the leases of tokens, revoke them",
  asksDaemon: true,
  words: ["list", "revoke"],
  options: {
    ...remoteOptions,
    prefix: {},
    limit: { value: { from: 1, to: 10_000, whole: true } },
  },
  parse,
  async run(options, context) {
    const { leases } = await import("./remote/leases.ts");
    return leases(options, context);
  },
  help: `Lists the leases of minted tokens with their ends, or revokes them: the tokens
then end at GitHub, too. The request needs a Vault token: VAULT_TOKEN, else the
file ~/.vault-token.

Usage:
  steward leases [OPTIONS] [list [PREFIX]]
  steward leases [OPTIONS] revoke ID
  steward leases [OPTIONS] revoke --prefix PREFIX

Options:
  --limit N       how many to list, from 1 to 10000; default ${DEFAULT_LIMIT}
  --prefix        revoke every lease whose id begins with PREFIX
${REMOTE_HELP}
Examples:
  steward leases list github/token/
  steward leases revoke github/token/VboR6FlJJnBSVpojVTpe6FTi
  steward leases revoke --prefix github/token/ci

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});

function parse(parsed: ParsedOptions, misuse: Misuse): LeasesArguments {
  const { positionals, switches, numbers } = parsed;
  const [action = "list", which] = positionals;
  refuseOperands(parsed, 2, misuse);
  const remote = remoteArguments(parsed, misuse);
  const limit = numbers.get("limit");
  if (action === "list") {
    if (switches.has("prefix")) throw misuse("--prefix goes with revoke");
    const prefix = which === undefined || which.endsWith("/") ? (which ?? "") : `${which}/`;
    return { ...remote, action, prefix, limit: limit ?? DEFAULT_LIMIT };
  }
  if (action !== "revoke") throw misuse(`unknown action ${quote(action)}: list or revoke`);
  if (limit !== undefined) throw misuse("--limit goes with list");
  if (which === undefined || which === "")
    throw misuse(`revoke needs ${switches.has("prefix") ? "a PREFIX" : "the ID of a lease"}`);
  return switches.has("prefix")
    ? { ...remote, action: "revoke_prefix", prefix: which }
    : { ...remote, action, id: which };
}

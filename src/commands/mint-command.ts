/** Declares `steward mint`. */
import { defineCommand, quote, refuseOperands, type Misuse } from "./command.ts";
import type { ParsedOptions } from "./options.ts";
import type { MintArguments } from "./remote/mint.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const mintCommand = defineCommand({
  name: "mint",
  usage: "mint [ORGANISATION]",
  summary: "mint a GitHub token and print it",
  asksDaemon: true,
  options: {
    ...remoteOptions,
    set: { value: "text" },
    "installation-id": { value: { from: 1, to: Number.MAX_SAFE_INTEGER, whole: true } },
    repository: { value: "text", many: true },
    permission: { value: "text", many: true },
    mount: { value: "text" },
  },
  parse,
  async run(options, context) {
    const { mint } = await import("./remote/mint.ts");
    return mint(options, context);
  },
  help: `Mints a short-lived GitHub token. The token alone goes to standard output; what
it may do, and how to revoke it, goes to standard error. The request needs a
Vault token: VAULT_TOKEN, else the file ~/.vault-token.

Usage:
  steward mint [OPTIONS] ORGANISATION
  steward mint [OPTIONS] --installation-id N
  steward mint [OPTIONS] --set NAME

Options:
  --repository NAME
                  only this repository; may be given several times
  --permission NAME=LEVEL
                  only this permission, e.g. contents=read; may be given several
                  times; without it the token has all that the app has
  --set NAME      what this permission set says
  --installation-id N
                  the installation of the app instead of ORGANISATION, from 1 to
                  ${Number.MAX_SAFE_INTEGER}
  --mount PATH    where the engine is mounted; default github
${REMOTE_HELP}
Examples:
  GH_TOKEN=$(steward mint my-org --repository web --permission contents=read)
  steward mint --set ci

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});

function parse(parsed: ParsedOptions, misuse: Misuse): MintArguments {
  const { positionals, texts, numbers, lists } = parsed;
  refuseOperands(parsed, 1, misuse);
  const [organisation] = positionals;
  const installationId = numbers.get("installation-id");
  const set = texts.get("set");
  const repositories = lists.get("repository") ?? [];
  const permissions = lists.get("permission") ?? [];
  const given = [organisation, installationId, set].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw misuse("one of ORGANISATION, --installation-id and --set is needed, and no other");
  if (set !== undefined && repositories.length + permissions.length > 0)
    throw misuse("--set says all: --repository and --permission do not go with it");
  const wrong = permissions.find((each) => !/^[a-z_]+=[a-z]+$/.test(each));
  if (wrong !== undefined)
    throw misuse(`--permission must be NAME=LEVEL such as contents=read, got ${quote(wrong)}`);
  return {
    ...remoteArguments(parsed, misuse),
    mount: mountOf(texts.get("mount"), misuse),
    set,
    organisation,
    installationId,
    repositories,
    permissions,
  };
}

function mountOf(given: string | undefined, misuse: Misuse): string {
  const mount = (given ?? "github").replaceAll(/^\/+|\/+$/g, "");
  if (mount !== "") return mount;
  throw misuse("--mount must be a path such as github");
}

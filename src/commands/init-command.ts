/** Declares `steward init`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { InitArguments } from "./init/init.ts";

export const initCommand = defineCommand({
  name: "init",
  usage: "init [FILE]",
  summary: "ask questions and write a configuration",
  options: { answers: { value: "text" }, force: {} },
  parse(parsed, misuse): InitArguments {
    refuseOperands(parsed, 1, misuse);
    const [file] = parsed.positionals;
    if (file === "") throw misuse("FILE must not be empty");
    const answers = parsed.texts.get("answers");
    if (answers === "") throw misuse("--answers needs the name of a file");
    return { file, answers, force: parsed.switches.has("force") };
  },
  async run(options, { environment, output }) {
    const { init } = await import("./init/init.ts");
    return init(options, environment, output);
  },
  help: `Asks what Steward should do, tries each credential when it is given, and writes
a configuration with comments.

Usage:
  steward init [OPTIONS] [FILE]

FILE is ~/.config/steward/steward.yaml, for root /etc/steward/steward.yaml,
unless given. Secrets and the JSON Schema become files beside it. All are for
your user only and written at the end: Ctrl-C leaves nothing. Run it as the
user who runs the daemon.

A GitHub App is stored in the state folder. That also makes the first root token
of the Vault API, which is printed once, alone on standard output.

Options:
  --answers FILE  read the answers from a YAML file, without a terminal
  --force         replace files that exist
  --help          print this text

Answers, each with its default or what it is; leave out what is not needed:
  network: none             or tailscale, headscale
  tailscale: {url: https://api.tailscale.com, client_id, client_secret}
  headscale: {url, api_key}
  prometheus: 127.0.0.1:2112 or none, with a network
  archive: none             or paperless, folders
  paperless: {url, token}
  folders: [PATH, …]
  tokens: no                or yes
  github: {url: https://api.github.com, app_id, private_key_file, organisation}
  state: DIR                all data; its default is the daemon's
client_secret, api_key and token may be read from a file: api_key_file.

Examples:
  steward init
  (umask 077 && steward init --answers answers.yaml steward.yaml > root-token)
  steward -validate -config ~/.config/steward/steward.yaml

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});

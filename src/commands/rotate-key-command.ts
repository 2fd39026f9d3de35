/** Declares `steward rotate-key`. */
import { defineCommand, refuseOperands, stateArguments, stateOptions } from "./command.ts";
import type { RotateKeyArguments } from "./rotate-key.ts";

export const rotateKeyCommand = defineCommand({
  name: "rotate-key",
  usage: "rotate-key",
  summary: "replace the key that the tokens are sealed with",
  options: { ...stateOptions, "key-file": { value: "text" } },
  parse: (parsed, misuse): RotateKeyArguments => {
    refuseOperands(parsed, 0, misuse);
    const keyFile = parsed.texts.get("key-file");
    if (keyFile === "") throw misuse("--key-file needs a file");
    return { ...stateArguments(parsed), keyFile };
  },
  async run(options, { environment, output }) {
    const { replaceKey } = await import("./rotate-key.ts");
    return replaceKey(options, environment, output);
  },
  help: `Replaces the key that the store of tokens is sealed with (tokens.key).

Usage:
  steward rotate-key [OPTIONS]

Afterwards the former key cannot decrypt anything in the store's file. Every row
is re-encrypted. The daemon must not be running, and its key must be where the
configuration says. Run it as the daemon's user, not as root. The audit records
it. After an interruption, run it again: at every moment the key file opens the
store.

Older backups can be read only with the former key: if you need them, save a
copy of it first. Which secrets a leaked key exposes, and what else to replace:
docs/key-rotation.md.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          replace the key of the demo
  --key-file FILE replace the key in this file and not in the configured one,
                  e.g. in the one that a systemd credential is made from
  --help          print this text

Examples:
  systemctl stop steward
  runuser -u steward -- steward rotate-key --config /etc/steward/steward.yaml
  systemctl start steward

Exits 0 on success, 1 on failure, e.g. because the daemon is running, 2 on a
usage error.
`,
});

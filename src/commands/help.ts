/** The help texts, at most 80 columns wide. */
import type { HelpTopic } from "./arguments.ts";

const steward = `Steward watches a private network, finds near-duplicates in a document
archive and hands out short-lived GitHub tokens behind a Vault API.

Usage:
  steward [-config FILE]        run the daemon
  steward -validate [-config FILE]
                                check the configuration and end
  steward -healthcheck [-config FILE]
                                ask the running daemon whether it is ready
  steward -preflight [-config FILE]
                                ask every control plane once, change nothing
  steward dedup PATH...         find duplicates once, print them and end
  steward backup DIR            copy the state folder; the daemon may run
  steward check [DIR]           look for damage in the state or in a backup
  steward root-token            make a root token when the first one was lost
  steward rotate-key            replace the key that the tokens are sealed with
  steward version               print version, commit, Node and system

Options of the daemon (one dash or two):
  -config FILE   read this YAML file; without it, and without any variable
                 STEWARD_... or PAPERLESS_..., the daemon reads
                 $XDG_CONFIG_HOME/steward/steward.yaml (~/.config if unset),
                 else /etc/steward/steward.yaml
  -demo          run the demo: invented network, archive and code host, a state
                 folder of its own, this machine only. It is also what starts
                 when nothing at all is configured; STEWARD_DEMO=false prevents
                 that
  -version       print the version alone
  -help          print this text

One-shot modes:
  -validate      print what is wrong with the configuration; 0 when nothing is,
                 1 when something is
    -json        as a JSON array
    -warnings-as-errors
                 end 1 also when there are only warnings
  -print-effective-config
                 print every key as the daemon would use it, without secrets
    -print-effective-config-format json|yaml
    -print-effective-config-provenance
                 say where each value comes from: default, file or env
  -print-effective-config-yaml
                 write a YAML file that loads to the same values; secrets are
                 the names of their files, or comments
  -healthcheck   0 when the daemon is ready, 1 when it is not, 2 when it
                 cannot be asked
    -healthcheck-timeout 5s
  -preflight     collect every network once and say how each collector went;
                 nothing is exported, stored or sent to be validated, so that
                 it may run beside the daemon
    -preflight-export
                 export what was collected
  -once          collect once as the daemon does, export it and remember how far
                 the logs were read; not while a daemon runs on the state folder
  -exposition-check
                 collect once like -preflight and check what a scraper would be
                 given, without opening the port
    -preflight-timeout 60s
                 for all of it, with any of these three
    -json        as one JSON object
                 They end with 0 when all is well, 1 when the configuration or
                 the state folder cannot be used, 3 when a credential is
                 refused, 4 when something was not collected, 5 when something
                 was not exported or the exposition is wrong, 130 on Ctrl-C

Environment:
  Every key of the file is also a variable: gateway.listen is
  STEWARD_GATEWAY__LISTEN. A secret can be read from a file: the variable
  STEWARD_AUTH__TOKEN_FILE names the file that holds auth.token.

Examples:
  steward                       start the demo on http://127.0.0.1:8400
  steward -config steward.yaml  start with your own archives
  curl -s 127.0.0.1:8400/api/v1/duplicates
                                show the groups that were found
  VAULT_ADDR=http://127.0.0.1:8400 bao read github/doctor
                                ask whether tokens can be minted

The daemon prints its address on standard output and logs to standard error.
It ends with 0 after Ctrl-C or SIGTERM, 1 on failure, 2 on wrong use.
More: steward dedup --help, steward backup --help, steward check --help,
steward root-token --help, steward rotate-key --help,
steward version --help
`;

const dedup = `Finds near-duplicate documents and prints them in groups.

Usage:
  steward dedup [OPTIONS] PATH...

PATH is a folder, read recursively (plain text, Markdown, HTML), or one such
file, or a JSONL file with one {"id": ..., "content": ..., "title": ...} a line,
or - for JSONL on standard input. Several are compared with each other.

Options:
  --threshold N   least confidence of a pair, from 0 to 1 (0.75)
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --workers N     worker threads, from 1 to 256 (one per core)
  --state DIR     keep signatures in DIR, so that the next run only signs what
                  is new; without it nothing is kept
  --json          print one JSON object with summary, parameters and groups
  --quiet         no progress on standard error
  --help          print this text

Examples:
  steward dedup ~/Documents
  steward dedup --threshold 0.9 scans/ export.jsonl
  steward dedup --json --quiet scans/ > groups.json
  zcat export.jsonl.gz | steward dedup -

In each group * marks the document that Steward would keep. Nothing is changed
or deleted. Ends with 0 when the run was complete, also when documents were
skipped; 1 when it failed, 2 on wrong use, 130 on Ctrl-C.
`;

const backup = `Copies everything that Steward keeps, as it stood at one moment.

Usage:
  steward backup [OPTIONS] DIR

DIR is made when it is missing and must be empty. The daemon may run meanwhile
and goes on. What Steward can make anew is left out. To restore, stop the
daemon and put the files of DIR into an empty state folder.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          back up the state of the demo
  --help          print this text

Examples:
  steward backup /var/backups/steward/2026-02-03
  steward backup --config steward.yaml /mnt/backup

The file manifest.json comes last: without it a backup is not complete. Ends
with 0 when it is, 1 when it failed, 2 on wrong use, 130 on Ctrl-C.
`;

const check = `Walks everything that Steward keeps and says whether it is sound.

Usage:
  steward check [OPTIONS] [DIR]

DIR is a state folder or a backup; without it, the state folder of the
configuration. Nothing is changed. The daemon must not be running on it.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          check the state of the demo
  --help          print this text

Examples:
  steward check
  steward check /var/backups/steward/2026-02-03

Ends with 0 when everything is sound; 1 when a store needs a backup or a newer
Steward, or could not be looked at; 3 when the next start puts right what is
wrong; 2 on wrong use, 130 on Ctrl-C.
`;

const rootToken = `Makes a root token of the Vault API when the first one was lost.

Usage:
  steward root-token [OPTIONS]

The token may do everything and never expires. It is printed this once, on
standard output, and stored nowhere in clear. The daemon must not be running;
its key must be where the configuration says. The audit records the new token.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          make it in the state of the demo
  --help          print this text

Examples:
  systemctl stop steward
  steward root-token --config steward.yaml
  systemctl start steward
  bao token revoke -self        end it when what had to be done is done

Ends with 0 when the token was made; 1 when it was not, e.g. because the daemon
is running, 2 on wrong use.
`;

const rotateKey = `Replaces the key that the store of tokens is sealed with (tokens.key).

Usage:
  steward rotate-key [OPTIONS]

The former key then opens neither the store nor anything in its file. Every row
is encrypted anew. The daemon must not be running, and its key must be where the
configuration says. The audit records it. After an interruption, run it again:
the store opens by the key file at any moment.

Backups made before open by the former key only: if you need them, save a copy
of it first. Which secrets a leaked key exposes, and what else to replace:
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
  steward rotate-key --config steward.yaml
  systemctl start steward

Ends with 0 when the key was replaced; 1 when it was not, e.g. because the
daemon is running, 2 on wrong use.
`;

const version = `Prints what a report of a fault should begin with.

Usage:
  steward version

Four lines: Steward's version, the commit of the clone it runs from, Node's
version, and the system. \`steward -version\` prints the version alone.
`;

const texts: Readonly<Record<HelpTopic, string>> = { steward, dedup, backup, check, "root-token": rootToken, "rotate-key": rotateKey, version };

/** The help on a topic, with its last line break. */
export function helpText(topic: HelpTopic): string {
  return texts[topic];
}

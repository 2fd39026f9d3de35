/** The help texts, at most 80 columns wide. */
import type { HelpTopic } from "./arguments.ts";

const steward = `Steward monitors a private network, finds near-duplicates in a document
archive and mints short-lived GitHub tokens behind a Vault-compatible API.

Usage:
  steward [-config FILE]        run the daemon
  steward -validate [-config FILE]
                                check the configuration and exit
  steward -healthcheck [-config FILE]
                                check whether the running daemon is ready
  steward -preflight [-config FILE]
                                collect from every control plane once, without
                                changing anything
  steward dedup PATH...         find duplicates once, print them and exit
  steward backup DIR            back up the state folder; the daemon may run
  steward check [DIR]           check the state or a backup for corruption
  steward root-token            create a root token when the first one is lost
  steward rotate-key            replace the key that the tokens are sealed with
  steward version               print version, commit, Node and system

Options of the daemon (one dash or two):
  -config FILE   read this YAML file; without it, and without any variable
                 STEWARD_... or PAPERLESS_..., the daemon reads
                 $XDG_CONFIG_HOME/steward/steward.yaml (~/.config if unset),
                 else /etc/steward/steward.yaml
  -demo          run the demo: simulated network, archive and code host, its own
                 state folder, reachable from this machine only. The demo also
                 starts when nothing is configured; STEWARD_DEMO=false prevents
                 that
  -version       print the version alone
  -help          print this text

One-shot modes:
  -validate      print what is wrong with the configuration; exits 0 when it is
                 valid, 1 when it is not
    -json        print a JSON array
    -warnings-as-errors
                 exit 1 when there are only warnings, too
  -print-effective-config
                 print every key as the daemon would use it, without secrets
    -print-effective-config-format json|yaml
    -print-effective-config-provenance
                 say where each value comes from: default, file or env
  -print-effective-config-yaml
                 write a YAML file that loads to the same values; secrets are
                 the names of their files, or comments
  -healthcheck   exits 0 when the daemon is ready, 1 when it is not, 2 when it
                 does not answer
    -healthcheck-timeout 5s
  -preflight     collect from every network once and print the result of each
                 collector; nothing is exported or stored, so it can run beside
                 the daemon
    -preflight-export
                 export the result, too
  -once          collect and export once as the daemon does, and save how far
                 the logs were read; the daemon must not be running
  -exposition-check
                 collect once like -preflight and validate the metrics a scraper
                 would receive, without opening the port
    -preflight-timeout 60s
                 time limit for the whole run of any of these three
    -json        print one JSON object
                 They exit 0 on success, 1 when the configuration or the state
                 folder cannot be used, 3 when a credential was rejected, 4 when
                 something was not collected, 5 when something was not exported
                 or the exposition is invalid, 130 on Ctrl-C

Environment:
  Every key of the file can be set by a variable: gateway.listen is
  STEWARD_GATEWAY__LISTEN. A secret can be read from a file: the variable
  STEWARD_AUTH__TOKEN_FILE names the file that holds auth.token.

Examples:
  steward                       start the demo on http://127.0.0.1:8400
  steward -config steward.yaml  start with your own archives
  curl -s 127.0.0.1:8400/api/v1/duplicates
                                list the duplicate groups
  VAULT_ADDR=http://127.0.0.1:8400 bao read github/doctor
                                check whether tokens can be minted

The daemon prints its address on standard output and logs to standard error.
It exits 0 after Ctrl-C or SIGTERM, 1 on failure, 2 on a usage error.
More: steward dedup --help, steward backup --help, steward check --help,
steward root-token --help, steward rotate-key --help,
steward version --help
`;

const dedup = `Finds near-duplicate documents and prints them in groups.

Usage:
  steward dedup [OPTIONS] PATH...

PATH is a folder, read recursively, a file, or - for JSONL on standard input.
Read are text, source code, Markdown, Org, TeX, CSV, HTML, XML, RTF, PDF with a
text layer, DOCX, ODT, EPUB and mail with its attachments, each also packed by
gzip, zstd or bzip2. What a file is, is decided by its content. A JSONL file has
one {"id": ..., "content": ..., "title": ...} per line. Documents of all PATHs
are compared with each other.

Options:
  --threshold N   minimum confidence of a pair, from 0 to 1 (0.75)
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --workers N     worker threads, from 1 to 256 (one per core)
  --state DIR     keep signatures in DIR, so that the next run only computes
                  those of new documents; without it nothing is stored
  --include GLOB  of folders read only files that match, e.g. '*.pdf' or
                  'letters/**'; may be given several times. Hidden files and
                  node_modules are read only if a GLOB names them: '.config/**'
  --exclude GLOB  leave out matching files and folders; may be given several
                  times
  --id-field F    the field of a JSONL line that holds its id (id; the number of
                  the line where there is none)
  --text-field F  the field that holds the text (content, else text)
  --skipped       list every file and line that was skipped, and why
  --json          print one JSON object with summary, parameters and groups
  --quiet         no progress on standard error
  --help          print this text

Examples:
  steward dedup ~/Documents
  steward dedup --threshold 0.9 scans/ export.jsonl
  steward dedup --json --quiet scans/ > groups.json
  steward dedup --include '*.pdf' --include '*.docx' ~/Documents
  steward dedup --id-field url --text-field body pages.jsonl.zst

In each group * marks the document that Steward would keep. Nothing is changed
or deleted. Exits 0 on success, even when documents were skipped, 1 on failure
or when there was something to read but no document, 2 on a usage error, 130 on
Ctrl-C.
`;

const backup = `Makes a consistent backup of the state folder.

Usage:
  steward backup [OPTIONS] DIR

DIR is created when it is missing and must be empty. The daemon may keep
running. Data that Steward can rebuild is left out. To restore, stop the daemon
and copy the files of DIR into an empty state folder.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          back up the state of the demo
  --help          print this text

Examples:
  steward backup /var/backups/steward/2026-02-03
  steward backup --config steward.yaml /mnt/backup

The file manifest.json is written last: without it a backup is incomplete. Exits
0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`;

const check = `Checks the state folder or a backup for corruption.

Usage:
  steward check [OPTIONS] [DIR]

DIR is a state folder or a backup; without it, the state folder of the
configuration. Nothing is changed. The daemon must not be using it.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          check the state of the demo
  --help          print this text

Examples:
  steward check
  steward check /var/backups/steward/2026-02-03

Exits 0 when no damage was found; 1 when a store has to be restored from a
backup, needs a newer Steward or could not be read; 3 when the next start
repairs the damage; 2 on a usage error, 130 on Ctrl-C.
`;

const rootToken = `Creates a root token of the Vault API when the first one is lost.

Usage:
  steward root-token [OPTIONS]

The token is allowed everything and never expires. It is printed once, on
standard output, and never stored in plain text. The daemon must not be running;
its key must be where the configuration says. The audit log records the token.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          create it in the state of the demo
  --help          print this text

Examples:
  systemctl stop steward
  steward root-token --config steward.yaml
  systemctl start steward
  bao token revoke -self        revoke it when it is no longer needed

Exits 0 on success, 1 on failure, e.g. because the daemon is running, 2 on a
usage error.
`;

const rotateKey = `Replaces the key that the store of tokens is sealed with (tokens.key).

Usage:
  steward rotate-key [OPTIONS]

Afterwards the former key cannot decrypt anything in the store's file. Every row
is re-encrypted. The daemon must not be running, and its key must be where the
configuration says. The audit records it. After an interruption, run it again:
at every moment the key file opens the store.

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
  steward rotate-key --config steward.yaml
  systemctl start steward

Exits 0 on success, 1 on failure, e.g. because the daemon is running, 2 on a
usage error.
`;

const version = `Prints the versions to include in a bug report.

Usage:
  steward version

Four lines: Steward's version, the commit of the clone it runs from, Node's
version, and the system. \`steward -version\` prints the version alone.
`;

const texts: Readonly<Record<HelpTopic, string>> = {
  steward,
  dedup,
  backup,
  check,
  "root-token": rootToken,
  "rotate-key": rotateKey,
  version,
};

/** The help on a topic, with its last line break. */
export function helpText(topic: HelpTopic): string {
  return texts[topic];
}

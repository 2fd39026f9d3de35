/**
 * Writes `docs/configuration.md` and its JSON Schema from the schema of the keys, so that the reference cannot say anything else
 * than the program.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { daemonSchema } from "../src/daemon/configuration.ts";
import { fileSchema } from "../src/kernel/config/file-schema.ts";
import { variableOf, type Key, type Schema } from "../src/kernel/config/key.ts";

/** Where the reference is committed. */
export const CONFIG_PAGE = join(import.meta.dirname, "../docs/configuration.md");

/** Where the JSON Schema is committed; `steward config-schema` prints the same. */
export const CONFIG_SCHEMA = join(import.meta.dirname, "../docs/configuration.schema.json");

/** Writes the reference and the JSON Schema. */
export function writeConfigDocs(): void {
  writeFileSync(CONFIG_PAGE, configPage(daemonSchema));
  writeFileSync(CONFIG_SCHEMA, configSchema(daemonSchema));
}

/** The JSON Schema as text. */
export function configSchema(schema: Schema): string {
  return `${JSON.stringify(fileSchema(schema), undefined, 2)}\n`;
}

/** The reference of a schema. */
export function configPage(schema: Schema): string {
  const sections = Map.groupBy(
    schema.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    (key) => key.path.split(".")[0] ?? "",
  );
  const parts = [...sections].map(
    ([name, keys]) =>
      `## ${name}\n\n| key | what it is | default | variable |\n|---|---|---|---|\n${keys.flatMap((key) => [row(key), ...fieldRows(key)]).join("\n")}\n`,
  );
  return `${HEAD}\n${parts.join("\n")}`;
}

const HEAD = `# Configuration

<!-- Made by \`npm run generate\` from the schema. -->

Each key can be set in the YAML file given with \`-config\` or by its environment variable; the variable takes precedence. A
key marked *secret* is never printed and can be read from a file: add \`_file\` to its name, or \`_FILE\` to its variable.
Lists in variables are separated by commas. A key without a value, with an empty text or with an empty variable counts as
not set, so a template may contain every key. \`steward -validate\` reports all errors at once and warns
of paths that do not exist; \`steward -print-effective-config\` prints the resulting configuration, and \`steward -print-effective-config-yaml\` prints it as a configuration file.

\`steward config-schema\` prints the file's JSON Schema ([configuration.schema.json](configuration.schema.json)), with which an editor
completes keys, shows what they are and marks mistakes while the file is written.

Without \`-config\`, \`-demo\` and any variable that begins with \`STEWARD_\` or \`PAPERLESS_\`, the daemon reads
\`$XDG_CONFIG_HOME/steward/steward.yaml\` (\`~/.config/steward/steward.yaml\` when the variable is not set), else
\`/etc/steward/steward.yaml\`, and logs which. So do the commands that work on its state, such as \`steward backup\`. The
one-shot modes, such as \`-validate\`, read only the file given with \`-config\`. Without any of these files the daemon starts the demo.
`;

function row(key: Key<unknown>): string {
  const other = [
    ...(key.env === undefined ? [] : [key.env]),
    ...(key.fallbacks ?? []).map(({ variable }) => variable),
  ];
  const variable = key.type.fileOnly
    ? "in the file only"
    : [variableOf(key.path), ...other].map((name) => `\`${name}\``).join(", ");
  const also = key.aliases?.length
    ? ` Also called ${key.aliases.map((name) => `\`${name}\``).join(", ")}.`
    : "";
  return `| \`${key.path}\`${key.secret === true ? " *secret*" : ""} | ${cell(key.help + also)} ${cell(expects(key))} | ${defaultOf(key)} | ${variable} |`;
}

function fieldRows(key: Key<unknown>): string[] {
  return (key.type.fields ?? []).map((field) => {
    const usual = field.required
      ? "needed"
      : field.default === undefined || String(field.default) === ""
        ? ""
        : `\`${String(field.default)}\``;
    return `| \`${key.path}[].${field.name}\`${field.secret ? " *secret*" : ""} | ${cell(field.help)} (${cell(field.expects)}) | ${usual} | in the file only |`;
  });
}

function expects(key: Key<unknown>): string {
  return `(${key.type.expects})`;
}

function defaultOf(key: Key<unknown>): string {
  // What a list of objects holds by default is told by its sentence.
  if (
    key.defaultFrom !== undefined ||
    key.default === undefined ||
    key.secret === true ||
    key.type.fields !== undefined
  )
    return "";
  const shown = key.type.show(key.default);
  return shown === "" || (Array.isArray(shown) && shown.length === 0) ? "" : `\`${String(shown)}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

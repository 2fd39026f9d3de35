/** What one subject of the questions contributes to the files that `steward init` writes. */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { Answers } from "./answers.ts";

export interface InitDeps {
  readonly answers: Answers;
  /** One line for the person who asked. */
  readonly say: (line: string) => void;
  /** Without settings of Steward: proxies, folders. */
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** The path of a file that this name would replace, if there is one. */
  readonly taken: (name: string) => string | undefined;
}

/** A file with one secret, beside the configuration. */
export interface SecretFile {
  readonly name: string;
  readonly secret: Secret;
}

export interface Part {
  /** Of the configuration. */
  readonly lines: readonly string[];
  readonly secrets: readonly SecretFile[];
}

/**
 * A rule of choices: the file of a choice's secret must be free. Before anything else is asked, so
 * that no answer is lost.
 */
export function secretFileFree(
  { taken }: Pick<InitDeps, "taken">,
  names: Readonly<Record<string, string>>,
): (choice: string) => Complaint | undefined {
  return (choice) => {
    const name = names[choice];
    const path = name === undefined ? undefined : taken(name);
    return path === undefined
      ? undefined
      : {
          rule: `cannot be ${choice}: ${path} exists already`,
          remedy: "move it away, name another FILE, or replace it with --force",
        };
  };
}

/**
 * The key that names a secret's file. Relative, so that the folder may be moved, or copied as
 * credentials of systemd.
 */
export function secretLine(key: string, { name }: SecretFile): string {
  return `${key}_file: ${name}`;
}

/** A text as YAML: paths and addresses plain, everything else in quotes. */
export function scalar(text: string): string {
  return /^(?:\/|https?:\/\/)[A-Za-z0-9._/:-]*[A-Za-z0-9._/-]$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** What one subject of the questions contributes to the files that `steward init` writes. */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { Answers } from "./answers.ts";

export interface InitDeps {
  readonly answers: Answers;
  /** One line for the person who asked. */
  readonly say: (line: string) => void;
  /** Without settings of Steward: proxies, folders. */
  readonly environment: Environment;
  readonly signal: AbortSignal;
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

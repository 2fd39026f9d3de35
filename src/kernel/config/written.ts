/** A value in a configuration file: what a type's `read` accepts. */
import { resolve } from "node:path";
import { Secret } from "../base/secret.ts";
import { FILE_ENDING } from "./secret-file.ts";
import { secretFile, type KeyType, type Shown } from "./types.ts";

/** A text, number, list or group; or a comment instead of a secret. */
export type Written =
  | Exclude<Shown, readonly string[]>
  | readonly Written[]
  | WrittenGroup
  | WrittenComment;

export interface WrittenGroup {
  readonly entries: readonly WrittenEntry[];
}

export interface WrittenEntry {
  readonly name: string;
  readonly value: Written;
}

/** The text after the name in the comment, unchanged. */
interface WrittenComment {
  readonly comment: string;
}

export function writeValue<T>(type: KeyType<T>, value: T): Written {
  return type.write === undefined ? type.show(value) : type.write(value);
}

/** A secret as the name of its file, or as a comment with its source; nothing when unset. */
export function writeSecret(name: string, value: unknown): WrittenEntry[] {
  if (!(value instanceof Secret)) return [];
  const file = secretFile(value);
  return [
    file === undefined
      ? { name, value: { comment: `""  # secret, from ${value.origin}` } }
      : { name: `${name}${FILE_ENDING}`, value: resolve(file) },
  ];
}

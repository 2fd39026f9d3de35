/** A value as it is written into a configuration file: what a type's `read` reads back. */
import { resolve } from "node:path";
import { Secret } from "../base/secret.ts";
import { FILE_ENDING } from "./secret-file.ts";
import { secretFile, type KeyType, type Shown } from "./types.ts";

/** A text, number, list or group; or a comment in the place of what must not be shown. */
export type Written =
  | Exclude<Shown, readonly string[]>
  | readonly Written[]
  | WrittenGroup
  | WrittenComment;

/** A group of keys, in order. */
export interface WrittenGroup {
  readonly entries: readonly WrittenEntry[];
}

/** One key of a group. */
export interface WrittenEntry {
  readonly name: string;
  readonly value: Written;
}

/** What follows the name in the comment, as it is. */
interface WrittenComment {
  readonly comment: string;
}

/** A value that is there, for its type to read. */
export function writeValue<T>(type: KeyType<T>, value: T): Written {
  return type.write === undefined ? type.show(value) : type.write(value);
}

/**
 * A secret as the file it lies in, or as a comment that says where it stands; nothing when there is
 * none.
 */
export function writeSecret(name: string, value: unknown): WrittenEntry[] {
  if (!(value instanceof Secret)) return [];
  const file = secretFile(value);
  return [
    file === undefined
      ? { name, value: { comment: `""  # secret, from ${value.origin}` } }
      : { name: `${name}${FILE_ENDING}`, value: resolve(file) },
  ];
}

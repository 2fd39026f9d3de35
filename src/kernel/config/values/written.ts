/** Writes values as they stand in a configuration file. */
import { resolve } from "node:path";
import { Secret } from "../../base/secret.ts";
import { FILE_ENDING } from "./secret-file.ts";
import { secretFile, type KeyType, type Written, type WrittenEntry } from "./types.ts";

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

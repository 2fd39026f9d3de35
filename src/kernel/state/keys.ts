/** Key codecs. */
import { StewardError } from "../base/errors.ts";
import type { KeyCodec, KeyPart } from "./types.ts";

/** Keys that are one string of at most 1,500 bytes. */
export const stringKey: KeyCodec<string> = {
  toParts: (key) => [key],
  fromParts([key]) {
    if (typeof key !== "string") throw new StewardError("corrupt", "a stored key should be text");
    return key;
  },
};

/** Keys that are one safe integer from 0 up. */
export const numberKey: KeyCodec<number> = {
  toParts: (key) => [key],
  fromParts([key]) {
    if (typeof key !== "number")
      throw new StewardError("corrupt", "a stored key should be a number");
    return key;
  },
};

/** Keys of several parts, ordered part by part. */
export function tupleKey<T extends readonly KeyPart[]>(): KeyCodec<T> {
  return {
    toParts: (key) => key,
    fromParts: (parts) => parts as KeyPart[] & T,
  };
}

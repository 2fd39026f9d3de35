/** Validates request paths, on every transport. */
import { StewardError } from "../../../kernel/base/errors.ts";

/** Bytes; leaves room for a lease id in a store key. */
const MAX_PATH_LENGTH = 1_400;

/**
 * A decoded path; lists end in a slash. Throws `invalid` for `..`, a control character, or more
 * than 1,400 bytes.
 */
export function requestPath(path: string, { list }: { readonly list: boolean }): string {
  if (Buffer.byteLength(path) > MAX_PATH_LENGTH)
    throw refusal(`the path is longer than ${MAX_PATH_LENGTH} bytes`);
  if (path.split("/").includes("..")) throw refusal("relative paths not supported");
  if (hasControl(path))
    throw refusal("the path holds control characters; percent-encode only what belongs to a name");
  return list && !path.endsWith("/") ? `${path}/` : path;
}

function refusal(message: string): StewardError {
  return new StewardError("invalid", message, { field: "path" });
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Error texts of Vault that clients know. */
import { StewardError } from "../../kernel/base/errors.ts";

/** A single error in Vault's error-list format. */
export function occurred(text: string): string {
  return `1 error occurred:\n\t* ${text}\n\n`;
}

/** No declared path matches: 404 with a text, unlike "no data". */
export function unsupportedPath(): StewardError {
  return new StewardError("not_found", occurred("unsupported path"), {
    rule: "unsupported_path",
    remedy: "ask for help on the mount to see its paths",
  });
}

/** The path exists, but not this operation: 405. */
export function unsupportedOperation(): StewardError {
  return new StewardError("unsupported", occurred("unsupported operation"), {
    rule: "unsupported_operation",
    remedy: "ask for help on the path to see its operations",
  });
}

/** A logical error: 400 with this text. */
export function logicalError(
  text: string,
  options: {
    readonly field?: string;
    readonly rule?: string;
    readonly remedy?: string;
    readonly cause?: unknown;
  } = {},
): StewardError {
  return new StewardError("invalid", text, options);
}

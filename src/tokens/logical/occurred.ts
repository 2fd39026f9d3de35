/** The texts of a secrets manager's own errors, as its clients know them. */
import { StewardError } from "../../kernel/base/errors.ts";

/** A single error in the wrapping of the original's error list. */
export function occurred(text: string): string {
  return `1 error occurred:\n\t* ${text}\n\n`;
}

/** A path that no declaration matches: 404, unlike "nothing there" with its text. */
export function unsupportedPath(): StewardError {
  return new StewardError("not_found", occurred("unsupported path"), {
    rule: "unsupported_path",
    remedy: "ask for help on the mount to see its paths",
  });
}

/** A path that is declared, but not for this operation: 405. */
export function unsupportedOperation(): StewardError {
  return new StewardError("unsupported", occurred("unsupported operation"), {
    rule: "unsupported_operation",
    remedy: "ask for help on the path to see its operations",
  });
}

/** A logical error: 400 with just this text. */
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

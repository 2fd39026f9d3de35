/** Findings name settings as the file does; the API has names of its own. */
import { StewardError } from "../../kernel/base/errors.ts";

/** The error with every name of the file replaced by the API's. Other errors are returned as is. */
export function withFieldNames(
  error: unknown,
  names: readonly string[],
  leafOf: (name: string) => string,
): unknown {
  if (!(error instanceof StewardError) || error.details === undefined) return error;
  const rename = (text: string): string =>
    names.reduce(
      (renamed, name) => renamed.replaceAll(new RegExp(`\\b${leafOf(name)}\\b`, "g"), name),
      text,
    );
  const [first] = error.details;
  return new StewardError(error.code, rename(error.message), {
    ...(first === undefined ? {} : { field: rename(first.path.join(".")) }),
    details: error.details.map((detail) => ({
      ...detail,
      path: detail.path.map((part) => (typeof part === "string" ? rename(part) : part)),
      message: rename(detail.message),
    })),
  });
}

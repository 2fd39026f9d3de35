/** Secrets in separate files: `a.b_file` names the file that contains `a.b`. */
import { toStewardError } from "../../base/errors.ts";
import type { Raw } from "./raw.ts";
import { resolvePath, type Complain, type ReadContext } from "./types.ts";

/** Suffix of a key that names a file. */
export const FILE_ENDING = "_file";

/** The content of the file named by `raw`, trimmed, as if written in its place. */
function readSecretFile(raw: Raw, complain: Complain, context: ReadContext): Raw | undefined {
  if (raw.kind !== "text") return complain({ rule: "must name a file" }, raw.location);
  const path = resolvePath(raw.text, raw.location, context);
  try {
    const text = context.readFile(path).trim();
    if (text === "") return complain({ rule: `must not be empty, ${path} is` }, raw.location);
    return { kind: "text", text, location: raw.location, readFrom: path };
  } catch (error) {
    return complain(
      { rule: `cannot be read from its file: ${toStewardError(error).message}` },
      raw.location,
    );
  }
}

/** The form that was given; both is a complaint. Undefined without either, or after a complaint. */
export function chooseSecret(
  direct: Raw | undefined,
  file: Raw | undefined,
  complain: Complain,
  context: ReadContext,
): Raw | undefined {
  if (file === undefined) return direct;
  if (direct !== undefined)
    return complain(
      { rule: "is given twice, as value and as file", remedy: "remove one of them." },
      file.location,
    );
  return readSecretFile(file, complain, context);
}

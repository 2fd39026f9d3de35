/** Checksums of released files, as `sha256sum --check` reads them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One line for each file of `folder`, in the order of their names. */
export function checksums(folder: string): string {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const digest = createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex");
      return `${digest}  ${name}\n`;
    })
    .join("");
}

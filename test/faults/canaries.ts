/** Secrets that are like no other text, and the search for them in everything that comes out. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A secret that is like no other text, in every form it could show itself in. */
export interface Canary {
  readonly where: string;
  readonly value: string;
}

let serial = 0;

/** A new one; `where` is what a hit is called. */
export function canary(where: string): Canary {
  serial += 1;
  return { where, value: `kanarienvogel${serial}x${"q7Zp".repeat(6)}${serial}` };
}

/** How it may be written. */
function forms({ value }: Canary): Buffer[] {
  const bytes = Buffer.from(value);
  // In base64 a text looks different by where it begins; the ends depend on neighbours and are left
  // out.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [value, value.toUpperCase(), bytes.toString("hex"), ...base64, bytes.toString("utf16le")]
    .map((text) => Buffer.from(text))
    .concat(Buffer.from(value, "utf16le"));
}

/** Bytes that are shown on either side of a hit. */
const AROUND = 200;

/** Names of the canaries that are to be found in what came out, and where; none should be. */
export function found(
  canaries: readonly Canary[],
  outputs: Readonly<Record<string, string | Buffer>>,
): string[] {
  const hits: string[] = [];
  for (const [name, output] of Object.entries(outputs)) {
    const bytes = Buffer.from(output);
    for (const each of canaries)
      for (const form of forms(each)) {
        const at = bytes.indexOf(form);
        if (at < 0) continue;
        const around = bytes.subarray(Math.max(0, at - AROUND), at + form.length + AROUND);
        hits.push(`${each.where} in ${name}: ${around.toString()}`);
        break;
      }
  }
  return hits;
}

/** Every file below a folder. */
export function filesOf(folder: string): Record<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries.map((entry) => [
      `state file ${entry.name}`,
      readFileSync(join(entry.parentPath, entry.name)),
    ]),
  );
}

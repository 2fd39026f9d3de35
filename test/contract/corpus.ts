/**
 * A small archive whose right answer is known by hand (the worked examples of the algorithm's
 * description).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const garden =
  "The garden committee met on Tuesday evening and agreed to repaint the old wooden fence before winter while Harriet collects the brushes, buckets and green paint from the shed.";
const bill = (number: string, date: string, total: string): string =>
  `Northwind Water Invoice number: ${number} Date: ${date} Account: 55810234 for the supply of fresh water and drainage at your home during the last quarter. Total due: $${total} payable within thirty days by bank transfer or card, thank you.`;

/**
 * File name to content. `fence*` is one group of three; `water*` must stay apart; `short` is too
 * short; `lone` is alone.
 */
export const smallArchive: Readonly<Record<string, string>> = {
  "minutes/fence.txt": garden,
  "minutes/fence-copy.txt": garden
    .replace("garden committee", "garden  committee")
    .replace(" while", "\nwhile")
    .replace("green", "GREEN"),
  "minutes/fence-white.md": garden.replace("green", "white"),
  "bills/water-march.txt": bill("NW-20417", "14/03/2024", "148.20"),
  "bills/water-june.txt": bill("NW-20988", "14/06/2024", "151.75"),
  "notes/lone.html":
    "<html><head><title>Beekeeping in spring</title></head><body><p>Inspect every hive on the first warm afternoon of April, note how many frames carry brood, and feed thin syrup only where the stores have run low over the long winter.</p></body></html>",
  "notes/short.txt": "Too short to say anything.",
};

/** Writes files below a folder, making what is missing. */
export function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }
}

/** A configuration over one folder, on a port the system chooses. */
export function folderConfig(state: string, folder: string, more = ""): string {
  return `gateway:\n  listen: 127.0.0.1:0\nstate:\n  directory: ${JSON.stringify(state)}\ndedup:\n  archives:\n    - name: papers\n      kind: folder\n      path: ${JSON.stringify(folder)}\n${more}`;
}

/** Names of files in a trash folder. */
import { basename, extname } from "node:path";

/** The longest name with room for a number and `.trashinfo` in the 255 bytes of a file name. */
const NAME_BYTES = 230;

/** `a.txt`, `a.2.txt`, `a.3.txt` …; an overlong name is shortened at its end. */
export function trashName(path: string, attempt: number): string {
  const name = basename(path);
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  const ending = attempt === 1 ? extension : `.${attempt}${extension}`;
  const fits = shorten(stem, NAME_BYTES - Buffer.byteLength(ending));
  return fits === "" ? shorten(name, NAME_BYTES) : `${fits}${ending}`;
}

function shorten(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = "";
  let used = 0;
  for (const letter of text) {
    used += Buffer.byteLength(letter);
    if (used > bytes) break;
    kept += letter;
  }
  return kept;
}

/**
 * Text that fits a terminal: display width, shortening in the middle, wrapping, and figures for
 * people.
 */

/** Made when a text needs it: that takes as long as half of a short command. */
let segmenter: Intl.Segmenter | undefined;
// East Asian wide and emoji presentation take two columns, combining marks and joiners none
// (Unicode TR 11).
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;
const EMPTY = /^[\p{M}\p{Cf}]+$/u;

/** The text in pieces that readers take for one letter. */
export function lettersOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const letter of lettersOf(text)) width += EMPTY.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
  return width;
}

/**
 * The text in at most `columns`, its middle replaced by `…` when it is longer: the ends of a path
 * say the most.
 */
export function shortenMiddle(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  const letters = lettersOf(text);
  const room = Math.max(0, columns - 1);
  return `${takeWidth(letters, Math.floor(room / 3)).join("")}…${takeWidth(
    letters.toReversed(),
    room - Math.floor(room / 3),
  )
    .toReversed()
    .join("")}`;
}

/** Lines of at most `columns` where words allow it. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return Math.round(count)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 group`, `2 groups`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `850 ms`, `4.2 s`, `3:07 min`, `1:02:03 h`. */
export function formatElapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)} min`;
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)} h`;
}

/** `87 MiB`, `1.2 GiB`. */
export function formatMemory(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return mebibytes < 1024 ? `${Math.round(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

/** `812 B`, `4.2 KiB`, `87 MiB`, `1.2 TiB`. */
export function formatTraffic(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < TRAFFIC_UNITS.length - 1; unit++) value /= 1024;
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${TRAFFIC_UNITS[unit]}`;
}

const TRAFFIC_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A share from 0 to 1 as `97 %`, rounded down, so that only what is complete reads 100. */
export function formatPercent(share: number): string {
  return `${Math.floor(Math.min(1, Math.max(0, share)) * 100 + 1e-9)} %`;
}

function takeWidth(letters: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let width = 0;
  for (const letter of letters) {
    width += displayWidth(letter);
    if (width > columns) break;
    taken.push(letter);
  }
  return taken;
}

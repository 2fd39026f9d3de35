/** Words of commands that messages print for copying. */

/** Quotes one word for a POSIX shell, where it needs it. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Names of the files in a mail or a portfolio. */

const NAME_UNITS = 150;

/** Gives each file of one document another name; `fallback` is that of a file without one. */
export function createMemberNames(): (filename: string, at: number, fallback: string) => string {
  const taken = new Set<string>();
  return (filename, at, fallback) => {
    let name = usable(filename) ?? fallback;
    while (taken.has(name)) name = `${at + 1}-${name}`;
    taken.add(name);
    return name;
  };
}

function usable(filename: string): string | undefined {
  const name = filename
    .toWellFormed()
    .replaceAll(/[\p{Cc}/\\]+/gu, "_")
    .trim();
  if (name === "" || name === "." || name === "..") return undefined;
  // Its end says what it is.
  return name.length > NAME_UNITS ? name.slice(-NAME_UNITS).toWellFormed() : name;
}

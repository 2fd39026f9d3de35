/** Trims a character in linear time: a regular expression such as `/\/+$/` is quadratic. */

export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

export function withoutEnds(text: string, character: string): string {
  const kept = withoutEnd(text, character);
  let from = 0;
  while (from < kept.length && kept[from] === character) from += 1;
  return kept.slice(from);
}

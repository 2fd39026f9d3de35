/** Headers of conditional requests (RFC 9110 §13) and instance manipulations (RFC 3229 §10.5). */

/** Whether an `If-None-Match` lists the tag or is `*`. Compares weakly (RFC 9110 §13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return (
    header.trim() === "*" ||
    (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((each) => opaque(each) === opaque(tag))
  );
}

/** Whether an `A-IM` accepts this manipulation: lists it, and not with weight 0. */
export function acceptsManipulation(header: string | undefined, manipulation: string): boolean {
  return (header ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => {
      const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
      return (
        name === manipulation && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
      );
    });
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, "");
}

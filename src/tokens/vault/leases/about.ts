/** What an intent or an orphan keeps of its request, so that a person can tell which token it was. */
import { isLongerThan } from "../../logical/json.ts";
import type { Data } from "../../logical/types.ts";

const MAX_ABOUT_LENGTH = 16 * 1024;

/**
 * Its JSON text, or that of an empty object above `MAX_ABOUT_LENGTH` characters. A body may have
 * 32 MiB, none of which is written to find that out.
 */
export function aboutJson(about: Data): string {
  if (isLongerThan(about, MAX_ABOUT_LENGTH)) return "{}";
  const text = JSON.stringify(about);
  return text.length > MAX_ABOUT_LENGTH ? "{}" : text;
}

/** What an intent or an orphan keeps of its request, so that a person can tell which token it was. */
import { isLongerThan } from "../../logical/json.ts";
import type { Data } from "../../logical/types.ts";

const MAX_ABOUT_LENGTH = 16 * 1024;

/**
 * The same, or nothing when its JSON text has more than `MAX_ABOUT_LENGTH` characters. A body may
 * have 32 MiB, none of which is written to find that out.
 */
export function boundedAbout(about: Data): Data {
  const isLong =
    isLongerThan(about, MAX_ABOUT_LENGTH) || JSON.stringify(about).length > MAX_ABOUT_LENGTH;
  return isLong ? {} : about;
}

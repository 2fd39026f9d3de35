/**
 * Rules shared by keys of several owners. Messages never show a value that may contain credentials.
 */
import { isAbsolute, join, normalize, parse } from "node:path";
import { isOverlayHost } from "../../base/ip-address.ts";
import type { Secret } from "../../base/secret.ts";
import type { Complaint } from "../findings.ts";

/** Node's timers wait at most about 24.8 days; a longer one would fire at once. */
const MAX_TIMER_MS = 24 * 86_400_000;

/** Greater than zero. */
export function positive(value: number): Complaint | undefined {
  return value > 0 ? undefined : { rule: "must be more than 0" };
}

/** A duration greater than zero that a timer can wait. */
export function timer(ms: number): Complaint | undefined {
  return positive(ms) ?? (ms > MAX_TIMER_MS ? { rule: "must be at most 576h" } : undefined);
}

/** An absolute http(s) URL without credentials, query and fragment, e.g. of a control plane. */
export function baseUrl(text: string): Complaint | undefined {
  const broken = httpUrl(text);
  if (broken !== undefined) return broken;
  const { search, hash } = new URL(text);
  return search === "" && hash === ""
    ? undefined
    : { rule: "must end with host or path", remedy: "remove what follows ? or #." };
}

/** An absolute http(s) URL without credentials. */
export function httpUrl(text: string): Complaint | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:\/\//i.test(text) || url.host === "")
    return {
      rule: "must be an http or https address",
      remedy: "write e.g. https://host.example.org.",
    };
  return url.username === "" && url.password === ""
    ? undefined
    : { rule: "must not contain credentials", remedy: "put them into their own keys." };
}

/** Applies the rule unless the text is empty. */
export function optionally(
  rule: (text: string) => Complaint | undefined,
): (text: string) => Complaint | undefined {
  return (text) => (text === "" ? undefined : rule(text));
}

/** An absolute path below the root, written without detours; empty is allowed. */
export function wholeFolder(example: string): (directory: string) => Complaint | undefined {
  return (directory) => {
    const isClean =
      isAbsolute(directory) &&
      directory !== parse(directory).root &&
      join(normalize(directory), ".") === directory;
    return directory === "" || isClean
      ? undefined
      : {
          rule: "must be a path below the root, without . and .. and a slash at its end",
          remedy: `write e.g. ${example}.`,
        };
  };
}

/** Whether an http URL points to another machine. */
export function isPlainRemote(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") return false;
  const host = hostOf(url);
  return host !== "localhost" && host !== "::1" && !host.startsWith("127.");
}

/**
 * Whether others on the network can read what is sent to this URL. Traffic to the addresses of an
 * overlay network is encrypted by WireGuard.
 */
export function isReadableByOthers(text: string): boolean {
  return isPlainRemote(text) && !isOverlayHost(hostOf(new URL(text)));
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** No entry is blank. */
export function noBlank(values: readonly string[]): Complaint | undefined {
  return values.every((value) => value.trim() !== "")
    ? undefined
    : { rule: "must not have empty entries" };
}

/** A text of at most so many characters, or a list of at most so many entries. */
export function atMost(
  length: number,
  unit: "characters" | "entries",
): (value: string | readonly unknown[]) => Complaint | undefined {
  return (value) =>
    value.length <= length ? undefined : { rule: `must have at most ${length} ${unit}` };
}

/** Warns about a token that can be guessed. */
export function guessable(token: Secret | undefined): Complaint | undefined {
  return token === undefined || token.use((value) => value.length) >= 16
    ? undefined
    : { rule: "is shorter than 16 characters and can be guessed", remedy: "use 32 random ones." };
}

/** Warns about a token that clients cannot send as Bearer. */
export function noBearer(token: Secret | undefined): Complaint | undefined {
  return token === undefined || token.use((value) => /^[\x21-\x7e]+$/.test(value))
    ? undefined
    : {
        rule: "has a space or another character that a Bearer header cannot carry",
        remedy: "use one word of printable ASCII, e.g. of openssl rand -hex 32.",
      };
}

/** Either of the two above. */
export function weakToken(token: Secret | undefined): Complaint | undefined {
  return noBearer(token) ?? guessable(token);
}

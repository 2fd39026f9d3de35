/** Rules that keys of several owners share. None shows a value that may hold credentials. */
import type { Complaint } from "./findings.ts";

/**
 * The longest time a timer of the runtime can wait is about 24.8 days; a longer one would be over
 * at once.
 */
const MAX_TIMER_MS = 24 * 86_400_000;

/** More than nothing. */
export function positive(value: number): Complaint | undefined {
  return value > 0 ? undefined : { rule: "must be more than 0" };
}

/** A time to wait: more than nothing, and no longer than a timer can wait. */
export function timer(ms: number): Complaint | undefined {
  return positive(ms) ?? (ms > MAX_TIMER_MS ? { rule: "must be at most 576h" } : undefined);
}

/** An absolute http(s) address without credentials, query and fragment, e.g. of a control plane. */
export function baseUrl(text: string): Complaint | undefined {
  const broken = httpUrl(text);
  if (broken !== undefined) return broken;
  const { search, hash } = new URL(text);
  return search === "" && hash === ""
    ? undefined
    : { rule: "must end with host or path", remedy: "remove what follows ? or #." };
}

/** An absolute http(s) address without credentials. */
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

/** The same, or nothing. */
export function optionally(
  rule: (text: string) => Complaint | undefined,
): (text: string) => Complaint | undefined {
  return (text) => (text === "" ? undefined : rule(text));
}

/** Whether an http address goes to another machine in the clear. */
export function isPlainRemote(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return host !== "localhost" && host !== "::1" && !host.startsWith("127.");
}

/** Each entry has something in it. */
export function noBlank(values: readonly string[]): Complaint | undefined {
  return values.every((value) => value.trim() !== "")
    ? undefined
    : { rule: "must not have empty entries" };
}

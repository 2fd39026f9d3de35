/** Release versions: parsing, comparing, and the URL of the release page. */

export interface ReleaseVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Identifiers, e.g. `rc` and `1`; empty for a release. */
  readonly preRelease: readonly string[];
}

const VERSION = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]+))?/;

/** What `v1.2.3` or `1.2.3-rc.1` begins with; undefined for anything else, e.g. `dev`. */
export function parseRelease(text: string): ReleaseVersion | undefined {
  const [, major, minor, patch, preRelease] = VERSION.exec(text) ?? [];
  return major === undefined
    ? undefined
    : {
        major: Number(major),
        minor: Number(minor),
        patch: Number(patch),
        preRelease: preRelease?.split(".") ?? [],
      };
}

/** `1.2.3` or `1.2.3-rc.1`. */
export function formatRelease({ major, minor, patch, preRelease }: ReleaseVersion): string {
  return [`${major}.${minor}.${patch}`, preRelease.join(".")].filter(Boolean).join("-");
}

/** Negative when the first is older, in the order of Semantic Versioning 2.0.0. */
export function compareReleases(one: ReleaseVersion, other: ReleaseVersion): number {
  return (
    one.major - other.major ||
    one.minor - other.minor ||
    one.patch - other.patch ||
    comparePreReleases(one.preRelease, other.preRelease)
  );
}

/** A release comes after its pre-releases; of these, the one with more identifiers. */
function comparePreReleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  const at = one.findIndex((identifier, index) => identifier !== other[index]);
  const [left, right] = [one[at], other[at]];
  return left === undefined || right === undefined
    ? one.length - other.length
    : compareIdentifiers(left, right);
}

/** Of two that differ: numbers by their value and before texts, texts in ASCII order. */
function compareIdentifiers(one: string, other: string): number {
  const [left, right] = [valueOf(one), valueOf(other)];
  return left < right || (left === right && one < other) ? -1 : 1;
}

function valueOf(identifier: string): number {
  return /^\d+$/.test(identifier) ? Number(identifier) : Infinity;
}

/** How many minor versions the first is behind the second of the same major version; else 0. */
export function minorsBehind(own: ReleaseVersion, latest: ReleaseVersion): number {
  return own.major === latest.major ? Math.max(0, latest.minor - own.minor) : 0;
}

/**
 * The release page for the URL of a release API: the repository's for the APIs of GitHub, GitHub
 * Enterprise and Gitea, else the API's host. Empty for an empty URL.
 */
export function releasePage(apiUrl: string): string {
  if (!URL.canParse(apiUrl)) return "";
  const { hostname, origin, pathname } = new URL(apiUrl);
  const [, repository] =
    /^(?:\/api\/v\d+)?\/repos\/([\w.-]+\/[\w.-]+)\/releases\b/.exec(pathname) ?? [];
  if (repository === undefined) return `${origin}/`;
  return `${hostname === "api.github.com" ? "https://github.com" : origin}/${repository}/releases`;
}

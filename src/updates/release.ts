/** Release versions: parsing, comparing, and the URL of the release page. */

export interface ReleaseVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** The first three numbers of `v1.2.3` or `1.2.3-rc.1`; undefined for anything else, e.g. `dev`. */
export function parseRelease(text: string): ReleaseVersion | undefined {
  const [, major, minor, patch] = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(text) ?? [];
  return major === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** `1.2.3`. */
export function formatRelease({ major, minor, patch }: ReleaseVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** Negative when the first is older. */
export function compareReleases(one: ReleaseVersion, other: ReleaseVersion): number {
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
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

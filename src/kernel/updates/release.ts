/**
 * Versions of releases: what counts of them, which is newer, and where a person reads about them.
 */

/** What counts of a version. */
export interface ReleaseVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/**
 * Of `v1.2.3` and `1.2.3-rc.1` alike the first three numbers; undefined for what does not begin
 * with them, e.g. `dev`.
 */
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

/** Below 0 when the first is older. */
export function compareReleases(one: ReleaseVersion, other: ReleaseVersion): number {
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
}

/** Minor versions that the first is behind the second of the same major version; else 0. */
export function minorsBehind(own: ReleaseVersion, latest: ReleaseVersion): number {
  return own.major === latest.major ? Math.max(0, latest.minor - own.minor) : 0;
}

/**
 * The page of releases for the address of a release API: that of the repository for the APIs of
 * GitHub, GitHub Enterprise and Gitea, else the API's host. Empty for an empty address.
 */
export function releasePage(apiUrl: string): string {
  if (!URL.canParse(apiUrl)) return "";
  const { hostname, origin, pathname } = new URL(apiUrl);
  const [, repository] =
    /^(?:\/api\/v\d+)?\/repos\/([\w.-]+\/[\w.-]+)\/releases\b/.exec(pathname) ?? [];
  if (repository === undefined) return `${origin}/`;
  return `${hostname === "api.github.com" ? "https://github.com" : origin}/${repository}/releases`;
}

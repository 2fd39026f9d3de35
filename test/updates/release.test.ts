import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareReleases,
  formatRelease,
  minorsBehind,
  parseRelease,
  releasePage,
} from "../../src/updates/release.ts";

const release = fc.record({
  major: fc.nat(999_999),
  minor: fc.nat(999_999),
  patch: fc.nat(999_999),
  preRelease: fc.constantFrom([], ["rc", "1"], ["rc", "2"], ["beta"]),
});
const numbers = { preRelease: [] };

describe("A release", () => {
  it("is its three numbers and its pre-release, with a v or without, whatever follows", () => {
    fc.assert(
      fc.property(
        release,
        fc.constantFrom("", "v"),
        fc.constantFrom("", "+build", "+build-1", " (today)"),
        (version, before, after) => {
          expect(parseRelease(`${before}${formatRelease(version)}${after}`)).toEqual(version);
        },
      ),
    );
  });

  it.each(["dev", "", "1.2", "V1.2.3", "release-1.2.3", "1.2.x", "1234567.0.0"])(
    "is none in %j",
    (text) => {
      expect(parseRelease(text)).toBeUndefined();
    },
  );

  it("is ordered by its numbers, not by its text", () => {
    fc.assert(
      fc.property(release, release, (one, other) => {
        expect(Math.sign(compareReleases(one, other))).toBe(
          -Math.sign(compareReleases(other, one)) + 0,
        );
        expect(compareReleases(one, other) === 0).toBe(formatRelease(one) === formatRelease(other));
      }),
    );
    expect(
      compareReleases(
        { major: 1, minor: 9, patch: 0, ...numbers },
        { major: 1, minor: 10, patch: 0, ...numbers },
      ),
    ).toBeLessThan(0);
  });

  it("comes after its pre-releases, which are in the order of Semantic Versioning", () => {
    const ordered = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.1-rc.1",
    ].flatMap((text) => parseRelease(text) ?? []);
    const shuffled = ordered.toReversed();
    expect(shuffled.toSorted(compareReleases).map(formatRelease)).toEqual(
      ordered.map(formatRelease),
    );
  });

  it("is so many minor versions behind another of the same major version only", () => {
    const behind = (own: string, latest: string): number | undefined => {
      const [one, other] = [parseRelease(own), parseRelease(latest)];
      return one && other && minorsBehind(one, other);
    };
    expect(behind("1.2.9", "1.5.0")).toBe(3);
    expect(behind("1.2.0", "2.5.0")).toBe(0);
    expect(behind("1.5.0", "1.2.0")).toBe(0);
  });

  it.each([
    ["https://api.github.com/repos/o-1/n.x/releases/latest", "https://github.com/o-1/n.x/releases"],
    [
      "https://ghe.example.org/api/v3/repos/o/n/releases/latest",
      "https://ghe.example.org/o/n/releases",
    ],
    ["https://codeberg.org/api/v1/repos/o/n/releases/latest", "https://codeberg.org/o/n/releases"],
    ["https://example.org/steward/latest.json?key=1", "https://example.org/"],
    ["", ""],
  ])("of %j is read about at %j", (api, page) => {
    expect(releasePage(api)).toBe(page);
  });
});

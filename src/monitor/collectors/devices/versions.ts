/** Client versions, and how many minor releases each is behind the latest stable one. */
import {
  devicesByVersion,
  devicesOutdated,
  deviceVersionSkew,
  fleetLatestVersion,
} from "../../catalogue/devices.ts";
import { Tally } from "../tally.ts";
import type { Part, PartContext } from "./part.ts";

interface Version {
  /** E.g. `1.86.2`. */
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** Parses the leading version, e.g. of `v1.86.2-t1a2b3c4d5`; undefined if there is none. */
function parseVersion(text: string): Version | undefined {
  const [, normal, major, minor] = /^v?((\d{1,9})\.(\d{1,9})\.\d{1,9})/.exec(text.trim()) ?? [];
  return normal === undefined
    ? undefined
    : { text: normal, major: Number(major), minor: Number(minor) };
}

/**
 * Minor releases behind; 0 for a newer client, undefined between major releases, where minors do
 * not compare.
 */
function skewOf(version: Version, latest: Version): number | undefined {
  return version.major === latest.major ? Math.max(0, latest.minor - version.minor) : undefined;
}

/** Devices per version. Shared-in devices report none. */
export function byVersion({ sweep }: PartContext): Part {
  const tally = new Tally<{ readonly "vpn.client_version": string }>();
  return {
    see({ clientVersion }) {
      if (clientVersion !== "")
        tally.add({ "vpn.client_version": parseVersion(clientVersion)?.text ?? "unknown" });
    },
    finish() {
      for (const { values, count } of tally.entries()) sweep.gauge(devicesByVersion, count, values);
    },
  };
}

/** Devices behind the latest version; omitted while that is unknown. */
export function outdated({ deps, sweep }: PartContext): Part[] {
  const latest = parseVersion(deps.latestClientVersion() ?? "");
  if (latest === undefined) return [];
  const { outdatedMinorThreshold, cardinality } = deps.options;
  let behind: number | undefined;
  return [
    {
      see({ clientVersion }, identity) {
        const version = parseVersion(clientVersion);
        const skew = version && skewOf(version, latest);
        if (skew === undefined) return;
        behind = (behind ?? 0) + Number(skew >= outdatedMinorThreshold);
        if (cardinality.perEntity.device) sweep.gauge(deviceVersionSkew, skew, identity);
      },
      finish() {
        sweep.gauge(fleetLatestVersion, 1, { "vpn.client_version": latest.text });
        if (behind !== undefined) sweep.gauge(devicesOutdated, behind, {});
      },
    },
  ];
}

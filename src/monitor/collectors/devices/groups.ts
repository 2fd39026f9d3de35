/** Devices grouped by tag and by distribution, with rare groups merged. */
import { devicesByDistro, devicesByTag } from "../../catalogue/devices.ts";
import type { Device } from "../../providers/model.ts";
import { Tally } from "../tally.ts";
import type { Part, PartContext } from "./part.ts";

/** Label of the merged rest. */
const OTHER = "__other__";
const DISTROS = 50;

export interface Distro {
  readonly "vpn.distro.name": string;
  readonly "vpn.distro.codename": string;
}

/**
 * The distribution in lower case, since vendors spell theirs in several ways; undefined when
 * unknown.
 */
export function distroOf({ distro }: Device): Distro | undefined {
  const name = distro?.name.trim().toLowerCase() ?? "";
  return name === ""
    ? undefined
    : {
        "vpn.distro.name": name,
        "vpn.distro.codename": distro?.codeName.trim().toLowerCase() || "unknown",
      };
}

/** Devices per tag; a device counts under each of its tags. */
export function byTag({ sweep, options: { tagRollupLimit } }: PartContext): Part {
  const tally = new Tally<{ readonly "vpn.tag": string }>();
  return {
    see({ tags }) {
      for (const tag of new Set(tags)) tally.add({ "vpn.tag": tag });
    },
    finish() {
      const { kept, others } = tally.top(tagRollupLimit);
      for (const { values, count } of kept) sweep.gauge(devicesByTag, count, values);
      if (others > 0) sweep.gauge(devicesByTag, others, { "vpn.tag": OTHER });
    },
  };
}

/** Devices per distribution; devices with an unknown one are left out. */
export function byDistro({ sweep }: PartContext): Part {
  const tally = new Tally<Distro & { readonly [name: string]: string }>();
  return {
    see(device) {
      const distro = distroOf(device);
      if (distro) tally.add({ ...distro });
    },
    finish() {
      const { kept, others } = tally.top(DISTROS);
      for (const { values, count } of kept) sweep.gauge(devicesByDistro, count, values);
      if (others > 0)
        sweep.gauge(devicesByDistro, others, {
          "vpn.distro.name": OTHER,
          "vpn.distro.codename": OTHER,
        });
    },
  };
}

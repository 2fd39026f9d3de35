/**
 * Devices in the status, sorted by name. Rows are rebuilt per device refresh, not per status, since
 * there may be thousands.
 */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeviceSchema,
  type Device as DeviceRow,
} from "../../../gen/steward/monitor/v1/collection_pb.ts";
import type { Device } from "../../providers/model.ts";
import { mapInTurns, type Turns } from "../../../kernel/async/turns.ts";

/** Returns the same list for the same input, so that it is not serialized again. */
export interface DeviceRows {
  /** Input lists are compared by identity: caches replace them as a whole. */
  of(networks: readonly (readonly Device[])[], turns: Turns): Promise<DeviceRow[]>;
}

export function createDeviceRows(): DeviceRows {
  const known = new WeakMap<readonly Device[], DeviceRow[]>();
  let union:
    | { readonly of: readonly (readonly Device[])[]; readonly rows: DeviceRow[] }
    | undefined;
  const rowsOf = async (devices: readonly Device[], turns: Turns): Promise<DeviceRow[]> => {
    const rows = known.get(devices) ?? sorted(await mapInTurns(devices, turns, rowOf));
    known.set(devices, rows);
    return rows;
  };
  return {
    async of(networks, turns) {
      const [first, ...others] = networks;
      if (first !== undefined && others.length === 0) return rowsOf(first, turns);
      if (
        union?.of.length === networks.length &&
        union.of.every((devices, at) => devices === networks[at])
      )
        return union.rows;
      const lists: DeviceRow[][] = [];
      for (const devices of networks) lists.push(await rowsOf(devices, turns));
      union = { of: [...networks], rows: sorted(lists.flat()) };
      return union.rows;
    },
  };
}

function sorted(rows: readonly DeviceRow[]): DeviceRow[] {
  return rows.toSorted((left, right) =>
    left.name < right.name ? -1 : left.name > right.name ? 1 : 0,
  );
}

function rowOf(device: Device): DeviceRow {
  const { external, hostname, name, os, user, online, clientVersion, lastSeenMs, expiresMs } =
    device;
  return create(DeviceSchema, {
    external,
    hostname,
    name,
    os,
    user,
    online,
    clientVersion,
    addrs: [...device.addresses],
    tags: [...device.tags],
    osVersion: device.distro?.version ?? "",
    advertisedRoutes: [...device.advertisedRoutes],
    enabledRoutes: [...device.enabledRoutes],
    updateAvailable: device.updateAvailable ?? false,
    keyExpiryDisabled: device.keyExpiryDisabled ?? false,
    ...(lastSeenMs === undefined ? {} : { lastSeen: timestampFromMs(lastSeenMs) }),
    ...(expiresMs === undefined ? {} : { keyExpiresAt: timestampFromMs(expiresMs) }),
  });
}

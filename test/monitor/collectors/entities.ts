/** Devices, users and keys with little in them, for tests of collectors. */
import type {
  Connectivity,
  Device,
  DeviceInvite,
  Key,
  User,
} from "../../../src/monitor/providers/model.ts";

/** The time of the harness's clock at its start. */
export const START_MS = 1_700_000_001_000;
export const DAY_MS = 86_400_000;

/** A device that tells nothing it need not tell. */
export function aDevice(id: string, more: Partial<Device> = {}): Device {
  return {
    id,
    nodeId: `n${id}`,
    name: `${id}.example.test`,
    hostname: id,
    os: "",
    user: "",
    clientVersion: "",
    addresses: [],
    tags: [],
    external: false,
    authorized: true,
    online: false,
    createdMs: undefined,
    lastSeenMs: undefined,
    expiresMs: undefined,
    keyExpiryDisabled: undefined,
    updateAvailable: undefined,
    multipleConnections: undefined,
    blocksIncomingConnections: undefined,
    sshEnabled: undefined,
    ephemeral: undefined,
    distro: undefined,
    postureIdentityDisabled: undefined,
    connectivity: undefined,
    advertisedRoutes: [],
    enabledRoutes: [],
    lockError: "",
    ...more,
  };
}

export function connectivity({
  supports,
  ...more
}: Partial<Omit<Connectivity, "supports">> & {
  readonly supports?: Partial<Connectivity["supports"]>;
} = {}): Connectivity {
  return {
    latency: [],
    hardNat: false,
    endpoints: [],
    supports: {
      udp: undefined,
      ipv6: undefined,
      pcp: undefined,
      pmp: undefined,
      upnp: undefined,
      ...supports,
    },
    ...more,
  };
}

export function anInvite(more: Partial<DeviceInvite> = {}): DeviceInvite {
  return {
    accepted: false,
    multiUse: false,
    allowExitNode: false,
    email: "",
    acceptedBy: "",
    createdMs: undefined,
    lastEmailSentMs: undefined,
    ...more,
  };
}

export function aUser(id: string, more: Partial<User> = {}): User {
  return {
    id,
    login: `${id}@example.test`,
    displayName: "",
    role: "member",
    status: "active",
    type: "member",
    createdMs: undefined,
    lastSeenMs: undefined,
    deviceCount: undefined,
    connected: undefined,
    ...more,
  };
}

export function aKey(id: string, more: Partial<Key> = {}): Key {
  return {
    id,
    type: "auth",
    authKind: "onetime",
    description: "",
    scopes: [],
    createdMs: undefined,
    expiresMs: undefined,
    revokedMs: undefined,
    invalid: false,
    owner: "",
    tags: [],
    deviceTags: [],
    preauthorized: undefined,
    ...more,
  };
}

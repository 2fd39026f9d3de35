/** Nodes on Headscale's wire: exactly 18 members, in this order, none ever absent. */
import {
  keyIdOf,
  methodOf,
  preAuthKeyObject,
  TAGGED_USER,
  userObject,
  type PreAuthKey,
  type Wire,
} from "./people.ts";
import { isExit, type Node } from "./state.ts";

/**
 * `keys` by id. In a list tagged nodes belong to a pseudo user; alone they belong to nobody and
 * serve no routes, in the development flavour.
 */
export function nodeObject(
  wire: Wire,
  node: Node,
  {
    keys,
    alone = false,
  }: { readonly keys: ReadonlyMap<number, PreAuthKey>; readonly alone?: boolean },
): object {
  const {
    device: { machine, machineKey, nodeKey, createdMs },
  } = node;
  const { times, flavour, network } = wire;
  const bare = alone && flavour === "development";
  const key = keys.get(keyIdOf(machine) ?? 0);
  return {
    id: node.id,
    machineKey,
    nodeKey,
    discoKey: `discokey:${network.identities.hex(`disco/${node.id}`)}`,
    ipAddresses: machine.addresses,
    name: node.name,
    user: userOf(wire, node, bare),
    lastSeen: times.local(node.lastSeenMs, `seen/${node.id}`),
    expiry: node.expiryMs === undefined ? null : times.local(node.expiryMs, `expiry/${node.id}`),
    preAuthKey: key === undefined ? null : preAuthKeyObject(wire, key, { within: true }),
    createdAt: times.utc(createdMs, `node/${node.id}`),
    registerMethod: methodOf(machine),
    givenName: node.givenName,
    online: node.online,
    approvedRoutes: node.approved.toSorted(byAddress),
    availableRoutes: [
      ...node.available.filter(isExit),
      ...node.available.filter((route) => !isExit(route)),
    ],
    subnetRoutes: bare ? [] : node.serving,
    tags: node.tags,
  };
}

function userOf(wire: Wire, { tags, device: { machine } }: Node, bare: boolean): object | null {
  if (tags.length > 0) return bare ? null : TAGGED_USER;
  return machine.owner === undefined ? null : userObject(wire, machine.owner);
}

// IPv4 before IPv6, each by address.
function byAddress(a: string, b: string): number {
  const family = Number(a.includes(":")) - Number(b.includes(":"));
  return family !== 0 ? family : a.localeCompare(b, "en", { numeric: true });
}

/** The words that the simulated network is made of: people, machines, places. */

/** Given name and family name. The first is the owner. */
export const PEOPLE: readonly (readonly [given: string, family: string])[] = [
  ["Ada", "Lovelace"],
  ["Bob", "Bemer"],
  ["Carol", "Shaw"],
  ["Dennis", "Ritchie"],
  ["Edith", "Clarke"],
  ["Frances", "Allen"],
  ["Grace", "Hopper"],
  ["Hedy", "Lamarr"],
  ["Ivan", "Sutherland"],
  ["Joan", "Clarke"],
  ["Ken", "Thompson"],
  ["Lynn", "Conway"],
  ["Mary", "Keller"],
  ["Niklaus", "Wirth"],
  ["Ole", "Dahl"],
  ["Peter", "Naur"],
];

/** What servers are called after. */
export const SERVER_ROLES: readonly string[] = [
  "build",
  "db",
  "web",
  "cache",
  "queue",
  "metrics",
  "git",
  "mail",
];

/** Relay regions as `latency` names them; the id is what flow logs carry as port. */
export const REGIONS: readonly { readonly id: number; readonly name: string }[] = [
  { id: 1, name: "New York City" },
  { id: 4, name: "Frankfurt" },
  { id: 8, name: "London" },
  { id: 18, name: "Paris" },
  { id: 14, name: "Amsterdam" },
];

/** The newest stable client; devices below it have an update. */
export const NEWEST_CLIENT = "1.90.4";

/** Versions that are in use, the newest most often. */
export const CLIENTS: readonly string[] = [
  NEWEST_CLIENT,
  NEWEST_CLIENT,
  NEWEST_CLIENT,
  "1.88.3",
  "1.86.2",
  "1.84.0",
];

/** What a device runs. */
export interface Platform {
  readonly os: string;
  readonly osVersion: string;
  readonly distro?: { readonly name: string; readonly version: string; readonly codeName: string };
}

/** What servers, routers and the like run. */
export const SERVER_PLATFORMS: readonly Platform[] = [
  {
    os: "linux",
    osVersion: "6.12.48",
    distro: { name: "debian", version: "13.1", codeName: "trixie" },
  },
  {
    os: "linux",
    osVersion: "6.8.0",
    distro: { name: "ubuntu", version: "24.04", codeName: "noble" },
  },
];

/** What people carry on a desk. */
export const LAPTOP_PLATFORMS: readonly Platform[] = [
  { os: "macOS", osVersion: "26.1.0" },
  { os: "windows", osVersion: "10.0.26200" },
  SERVER_PLATFORMS[1] as Platform,
];

/** What people carry in a pocket. */
export const PHONE_PLATFORMS: readonly Platform[] = [
  { os: "iOS", osVersion: "26.1" },
  { os: "android", osVersion: "16" },
];

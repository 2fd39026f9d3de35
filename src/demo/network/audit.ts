/**
 * What changed in the network and who did it: one event for each change of the cycles that the
 * other files live by, in the vendor's words.
 */
import { startOf, turnsIn, type Cycle, type Window } from "./cycle.ts";
import {
  KEY_EXPIRY_CYCLE,
  KEY_EXPIRY_INDEX,
  ROUTE_CYCLE,
  ROUTE_INDEX,
  type Devices,
} from "./devices.ts";
import type { Identities } from "./identity.ts";
import { AUTH_KEY_CYCLE, authKeyOf, isRevoked, REVOKED_AFTER_TURNS } from "./keys.ts";
import { POLICY_CYCLE, policyInTurn } from "./policy.ts";
import {
  APPROVAL_CYCLE,
  DNS_CYCLE,
  nameserversInTurn,
  WEBHOOK_CYCLE,
  webhooksInTurn,
} from "./settings.ts";
import {
  ROLE_CYCLE,
  ROLE_INDEX,
  roleInTurn,
  SUSPENDED_INDEX,
  SUSPENSION_CYCLE,
  type Person,
} from "./users.ts";

/** Who did it. */
interface AuditActor {
  readonly id: string;
  readonly type: string;
  readonly loginName?: string;
  readonly displayName?: string;
  readonly tags?: readonly string[];
}

/** To what it was done. */
interface AuditTarget {
  readonly id: string;
  readonly name?: string;
  readonly type: string;
  readonly isEphemeral?: boolean;
  readonly property?: string;
}

/** One change. */
export interface AuditEvent {
  readonly atMs: number;
  readonly groupId: string;
  readonly origin: string;
  readonly actor: AuditActor;
  readonly target: AuditTarget;
  readonly action: string;
  readonly old?: unknown;
  readonly new?: unknown;
  readonly details?: string;
  readonly error?: string;
  readonly deferredMs?: number;
}

/** Subjects of the events. */
export interface AuditSubject {
  readonly people: readonly Person[];
  readonly devices: Devices;
  readonly identities: Identities;
  readonly tailnet: { readonly id: string; readonly name: string };
}

type Change = Omit<AuditEvent, "atMs" | "groupId">;
type RecurringChange = readonly [
  cycle: Cycle,
  changeAt: (turn: number, atMs: number) => Change | undefined,
];

const MINUTE_MS = 60_000;
const LOGIN_CYCLE: Cycle = { periodMs: 35 * MINUTE_MS, phaseMs: 3 * MINUTE_MS };
const FAILURE_CYCLE: Cycle = { periodMs: 130 * MINUTE_MS, phaseMs: 41 * MINUTE_MS };
const SYNC_CYCLE: Cycle = { periodMs: 11 * 60 * MINUTE_MS, phaseMs: 19 * MINUTE_MS };
// A change takes effect within its turn's first moments; the fraction makes instants that are no
// whole seconds.
const HAND_MS = 137;

/** The events of a window, oldest first. */
export function auditIn(subject: AuditSubject, window: Window): readonly AuditEvent[] {
  const recurring = [
    ...settingChanges(subject),
    ...peopleChanges(subject),
    ...deviceChanges(subject),
    ...keyChanges(subject),
  ];
  const scheduled = recurring.flatMap(([cycle, changeAt], index) =>
    turnsIn({ ...cycle, phaseMs: cycle.phaseMs + HAND_MS }, window).flatMap((turn) => {
      const atMs = startOf(cycle, turn) + HAND_MS;
      const change = changeAt(turn, atMs);
      return change === undefined
        ? []
        : [
            {
              atMs,
              groupId: subject.identities.hex(`event/${index}/${turn}`).slice(0, 32),
              ...change,
            },
          ];
    }),
  );
  return [...scheduled, ...arrivals(subject, window)].toSorted(
    (a, b) => a.atMs - b.atMs || (a.groupId < b.groupId ? -1 : 1),
  );
}

function by(person: Person | undefined): AuditActor {
  return {
    id: person?.id ?? "",
    type: "USER",
    loginName: person?.loginName ?? "",
    displayName: person?.displayName ?? "",
  };
}

function settingChanges({ people, identities, tailnet }: AuditSubject): RecurringChange[] {
  const target = (property: string): AuditTarget => ({
    id: tailnet.id,
    name: tailnet.name,
    type: "TAILNET",
    property,
  });
  const client: AuditActor = {
    id: identities.stable("k", "client/infra"),
    type: "OAUTH_CLIENT",
    displayName: "infrastructure",
    tags: ["tag:ci"],
  };
  return [
    [
      POLICY_CYCLE,
      (turn) => ({
        ...(turn % 3 === 0
          ? { origin: "CONFIG_API", actor: client }
          : { origin: "ADMIN_CONSOLE", actor: by(people[0]) }),
        target: target("ACL"),
        action: "UPDATE",
        old: policyInTurn(people, turn - 1),
        new: policyInTurn(people, turn),
      }),
    ],
    [
      APPROVAL_CYCLE,
      (turn) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[0]),
        target: target("MACHINE_APPROVAL_NEEDED"),
        action: turn % 2 === 0 ? "ENABLE" : "DISABLE",
        old: turn % 2 !== 0,
        new: turn % 2 === 0,
      }),
    ],
    [
      DNS_CYCLE,
      (turn) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[2]),
        target: target("DNS_CONFIG"),
        action: "UPDATE",
        old: { nameservers: nameserversInTurn(turn - 1) },
        new: { nameservers: nameserversInTurn(turn) },
      }),
    ],
    [
      WEBHOOK_CYCLE,
      (turn) => ({
        origin: "CONFIG_API",
        actor: client,
        target: {
          id: identities.stable("w", "webhook/0"),
          name: "",
          type: "WEBHOOK_ENDPOINT",
          property: "SUBSCRIBED_EVENTS",
        },
        action: "UPDATE",
        old: webhooksInTurn(turn - 1),
        new: webhooksInTurn(turn),
      }),
    ],
  ];
}

function peopleChanges({ people, tailnet }: AuditSubject): RecurringChange[] {
  const user = (index: number, property?: string): AuditTarget => ({
    id: people[index]?.id ?? "",
    name: people[index]?.loginName ?? "",
    type: "USER",
    ...(property === undefined ? {} : { property }),
  });
  return [
    [
      ROLE_CYCLE,
      (turn) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[0]),
        target: user(ROLE_INDEX, "USER_ROLE"),
        action: "UPDATE",
        old: roleInTurn(turn - 1),
        new: roleInTurn(turn),
      }),
    ],
    [
      SUSPENSION_CYCLE,
      (turn) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[0]),
        target: user(SUSPENDED_INDEX),
        action: turn % 2 === 0 ? "RESTORE" : "SUSPEND",
      }),
    ],
    [
      LOGIN_CYCLE,
      (turn) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[turn % 4]),
        target: { id: tailnet.id, name: tailnet.name, type: "ADMIN_CONSOLE" },
        action: "LOGIN",
      }),
    ],
    [
      FAILURE_CYCLE,
      () => ({
        origin: "CONFIG_API",
        actor: by(people[3]),
        target: { id: tailnet.id, name: tailnet.name, type: "FAILED_REQUEST", property: "ACL" },
        action: "UPDATE",
        error: "precondition failed, invalid old hash",
      }),
    ],
    [
      SYNC_CYCLE,
      (_turn, atMs) => ({
        origin: "IDENTITY_PROVIDER",
        actor: { id: "scim", type: "SCIM" },
        target: user(5),
        action: "PUSH_USER",
        details: "pushed by the identity provider",
        deferredMs: atMs + 1900,
      }),
    ],
  ];
}

function deviceChanges({ people, devices }: AuditSubject): RecurringChange[] {
  const node = (index: number, atMs: number, property: string): AuditTarget | undefined => {
    const device = devices.at(atMs).find(({ machine }) => machine.index === index);
    return device === undefined
      ? undefined
      : { id: device.nodeId, name: device.host, type: "NODE", isEphemeral: false, property };
  };
  return [
    [
      KEY_EXPIRY_CYCLE,
      (turn, atMs) => {
        const target = node(KEY_EXPIRY_INDEX, atMs, "KEY_EXPIRY");
        return (
          target && {
            origin: "ADMIN_CONSOLE",
            actor: by(people[0]),
            target,
            action: turn % 2 === 0 ? "DISABLE" : "ENABLE",
            old: turn % 2 === 0,
            new: turn % 2 !== 0,
          }
        );
      },
    ],
    [
      ROUTE_CYCLE,
      (turn, atMs) => {
        const target = node(ROUTE_INDEX, atMs, "ALLOWED_IPS");
        return (
          target && {
            origin: "ADMIN_CONSOLE",
            actor: by(people[3]),
            target,
            action: "UPDATE",
            old: turn % 2 === 0 ? [] : ["10.20.0.0/16"],
            new: turn % 2 === 0 ? ["10.20.0.0/16"] : [],
          }
        );
      },
    ],
  ];
}

function keyChanges({ people, identities }: AuditSubject): RecurringChange[] {
  const target = (turn: number, atMs: number): AuditTarget => {
    const { id, description } = authKeyOf(turn, atMs, people, identities);
    return { id, name: description, type: "API_KEY" };
  };
  return [
    [
      AUTH_KEY_CYCLE,
      (turn, atMs) => ({
        origin: "ADMIN_CONSOLE",
        actor: by(people[0]),
        target: target(turn, atMs),
        action: "CREATE",
      }),
    ],
    [
      AUTH_KEY_CYCLE,
      (turn, atMs) =>
        isRevoked(turn - REVOKED_AFTER_TURNS)
          ? {
              origin: "ADMIN_CONSOLE",
              actor: by(people[0]),
              target: target(turn - REVOKED_AFTER_TURNS, atMs),
              action: "REVOKE",
            }
          : undefined,
    ],
  ];
}

function arrivals({ devices, identities }: AuditSubject, { fromMs, toMs }: Window): AuditEvent[] {
  return devices
    .comings({ fromMs: fromMs - HAND_MS, toMs: toMs - HAND_MS })
    .map(({ atMs, device, what }) => ({
      atMs: atMs + HAND_MS,
      groupId: identities.hex(`coming/${what}/${device.nodeId}`).slice(0, 32),
      origin: what === "created" ? "NODE" : "CONTROL",
      actor:
        what === "created"
          ? { id: device.nodeId, type: "NODE", displayName: device.host, tags: device.machine.tags }
          : { id: "ephemeral-cleanup", type: "AUTOMATED_WORKER" },
      target: { id: device.nodeId, name: device.host, type: "NODE", isEphemeral: true },
      action: what === "created" ? "CREATE" : "DELETE",
    }));
}

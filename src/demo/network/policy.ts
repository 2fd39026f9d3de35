/** The access policy of the network: a text with comments whose rules change with each revision. */
import { turnAt, type Cycle } from "./cycle.ts";
import type { Person } from "./users.ts";

/** A revision begins with each turn. */
export const POLICY_CYCLE: Cycle = { periodMs: 45 * 60_000, phaseMs: 7 * 60_000 };

/** The policy in force at an instant, as HuJSON. */
export function policyAt(people: readonly Person[], atMs: number): string {
  return policyInTurn(people, turnAt(POLICY_CYCLE, atMs));
}

/** The policy of a turn. Even turns lack one rule of the odd ones. */
export function policyInTurn(people: readonly Person[], turn: number): string {
  const logins = people.filter(({ type }) => type === "member").map(({ loginName }) => loginName);
  const quoted = (list: readonly string[]): string =>
    list.map((each) => JSON.stringify(each)).join(", ");
  const admin = logins[0] ?? "";
  const extra =
    turn % 2 === 0
      ? ""
      : `\n    {"action": "accept", "src": ["group:eng"], "dst": ["tag:server:${8000 + (turn % 90)}"]}, // opened for a trial`;
  return `{
  // Who may reach what. Reviewed by the platform team.
  "groups": {
    "group:eng": [${quoted(logins.slice(0, 4))}],
    "group:office": [${quoted(logins.slice(4))}],
  },
  "tagOwners": {"tag:ci": ["group:eng"], "tag:server": ["group:eng"], "tag:router": ["${admin}"], "tag:exit": ["${admin}"]},
  "hosts": {"warehouse": "10.20.1.5"},
  "acls": [
    {"action": "accept", "src": ["group:eng"], "dst": ["tag:server:22,443,5432"]},
    {"action": "accept", "src": ["group:office"], "dst": ["tag:server:443"]},
    {"action": "accept", "src": ["autogroup:member"], "dst": ["autogroup:internet:*"]},${extra}
    {"action": "accept", "src": ["tag:ci"], "dst": ["warehouse:5432"]}, /* the nightly import */
  ],
  "grants": [{"src": ["group:eng"], "dst": ["tag:ci"], "ip": ["tcp:443"], "srcPosture": ["posture:current"]}],
  "postures": {"posture:current": ["node:tsReleaseTrack == 'stable'"]},
  "ssh": [{"action": "check", "src": ["group:eng"], "dst": ["tag:server"], "users": ["root", "autogroup:nonroot"]}],
  "autoApprovers": {"routes": {"10.20.0.0/16": ["tag:router"]}, "exitNode": ["tag:exit"], "services": {"svc:web": ["tag:server"]}},
  "nodeAttrs": [{"target": ["autogroup:member"], "attr": ["funnel"]}],
  "tests": [{"src": "${admin}", "accept": ["tag:server:443"], "deny": ["tag:router:22"]}],
}
`;
}

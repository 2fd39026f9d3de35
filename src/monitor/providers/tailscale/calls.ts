/** The calls of the hosted control plane: the table from which the interface of all providers follows. */
import type { ControlPlane } from "./control-plane.ts";
import { deviceCalls } from "./device.ts";
import { logCalls } from "./logs.ts";
import { networkCalls } from "./network.ts";
import { peopleCalls } from "./people.ts";
import { policyCalls } from "./policy.ts";

/** Each takes the control plane first and the signal last. */
const hostedCalls = {
  ...deviceCalls,
  ...peopleCalls,
  ...policyCalls,
  ...networkCalls,
  ...logCalls,
};

/** The calls as a provider offers them, without the control plane. */
export type HostedCalls = {
  readonly [K in keyof typeof hostedCalls]: (typeof hostedCalls)[K] extends (
    plane: ControlPlane,
    ...args: infer A
  ) => infer R
    ? (...args: A) => R
    : never;
};

export const callNames = Object.keys(hostedCalls) as readonly (keyof HostedCalls)[];

export function bindCalls(plane: ControlPlane): HostedCalls {
  const bound = callNames.map((name) => {
    const call: (plane: ControlPlane, ...args: never[]) => unknown = hostedCalls[name];
    return [name, (...args: never[]) => call(plane, ...args)];
  });
  return Object.fromEntries(bound) as HostedCalls;
}

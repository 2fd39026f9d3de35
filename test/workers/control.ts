import type { TaskControl } from "../../workers/control.ts";

/** A caller that stays, or leaves after some looks. */
export function control(
  cancelAfter: number = Number.POSITIVE_INFINITY,
): TaskControl & { units: number; looks: number } {
  return {
    units: 0,
    looks: 0,
    cancelled() {
      this.looks += 1;
      return this.looks > cancelAfter;
    },
    step(units) {
      this.units += units;
    },
    transfer: () => undefined,
  };
}

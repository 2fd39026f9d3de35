/** Keys `events`: the store of events that the explorer shows. */
import type { Check } from "../../kernel/config/load.ts";
import { atKey } from "../../kernel/config/checks/key-finding.ts";
import { defineKeyGroup, keysOf } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { boolean, integer } from "../../kernel/config/values/types.ts";
import type { EventStoreOptions } from "../options.ts";

const MIN_EVENTS = 100;
const MAX_EVENTS = 100_000;

export const events = defineKeyGroup<EventStoreOptions>("events", {
  enabled: {
    type: boolean,
    default: true,
    help: "Stores configuration changes and webhook events in memory, for /events and /api/events.json.",
  },
  maxEvents: {
    type: integer(0, MAX_EVENTS),
    default: 5_000,
    help: "Events that are stored, 100 to 100000; the oldest make way. A restart loses them.",
  },
});

export const eventSchema: Schema = keysOf(events);

/** The size counts only while events are stored. */
export const checkEvents: Check = {
  needs: [events.enabled, events.maxEvents],
  run(config) {
    if (!config.get(events.enabled) || config.get(events.maxEvents) >= MIN_EVENTS) return [];
    return [
      atKey(config, events.maxEvents, "error", {
        rule: `must be between ${MIN_EVENTS} and ${MAX_EVENTS} while events.enabled is true`,
        remedy: `write a number from ${MIN_EVENTS}, or set events.enabled to false.`,
      }),
    ];
  },
};

/** Answers `ListEvents` from the store. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import {
  EventService,
  type ListEventsRequest,
} from "../../gen/steward/monitor/v1/event_service_pb.ts";
import {
  EventListSchema,
  type EventFiltersSchema,
  type EventSchema,
} from "../../gen/steward/monitor/v1/events_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import { selectEvents, type EventFilter, type EventPage } from "./event-query.ts";
import type { EventStore } from "./event-store.ts";
import type { StoredEvent } from "./types.ts";

/** Texts that leave `errors` off, in lower case. */
const NOT_SET: ReadonlySet<string> = new Set(["", "0", "false"]);

/** Without a store every call fails with `not_found`. */
export function createEventApi(clock: Clock, store: EventStore | undefined): BoundService {
  return bindService(EventService, {
    async listEvents(request, { signal }) {
      if (store === undefined)
        throw new StewardError("not_found", "events are not stored: events.enabled is false");
      const nowMs = clock.now();
      const filter = filterOf(request);
      const page = await selectEvents(
        store,
        {
          ...filter,
          startMs: msOf(request.start) ?? -Infinity,
          endMs: msOf(request.end) ?? nowMs,
          limit: request.limit,
          cursor: request.cursor,
        },
        signal,
      );
      return { events: create(EventListSchema, documentOf(store, filter, page, nowMs)) };
    },
  });
}

function documentOf(
  store: EventStore,
  filter: EventFilter,
  { rows, matched, nextCursor = "", times }: EventPage,
  nowMs: number,
): MessageInitShape<typeof EventListSchema> {
  const { capacity, retained, recorded, evicted } = store.status();
  const filters = filtersOf(filter);
  return {
    schemaVersion: schemaVersion(EventListSchema),
    stats: {
      capacity,
      retained,
      recorded: BigInt(recorded),
      evicted: BigInt(evicted),
      ...(times === undefined
        ? {}
        : {
            earliest: timestampFromMs(times.earliestMs),
            latest: timestampFromMs(times.latestMs),
          }),
    },
    rows: rows.map(rowOf),
    ...(filters === undefined ? {} : { filters }),
    generatedAt: timestampFromMs(nowMs),
    matched,
    returned: rows.length,
    retained,
    truncated: store.isFull,
    nextCursor,
  };
}

function filterOf(request: ListEventsRequest): EventFilter {
  const { source, severity, type, actor, target, action, errors } = request;
  return {
    source,
    severity,
    type,
    actor,
    target,
    action,
    errors: !NOT_SET.has(errors.toLowerCase()),
  };
}

/** Undefined when nothing is filtered. */
function filtersOf(filter: EventFilter): MessageInitShape<typeof EventFiltersSchema> | undefined {
  return Object.values(filter).every((value) => value === "" || value === false)
    ? undefined
    : { ...filter };
}

function rowOf({
  timeMs,
  seq,
  actor,
  target,
  ...event
}: StoredEvent): MessageInitShape<typeof EventSchema> {
  return {
    ...event,
    time: timestampFromMs(timeMs),
    actorId: actor.id,
    actorName: actor.name,
    actorType: actor.type,
    targetId: target.id,
    targetName: target.name,
    targetType: target.type,
    targetProperty: target.property,
    seq: BigInt(seq),
  };
}

function msOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

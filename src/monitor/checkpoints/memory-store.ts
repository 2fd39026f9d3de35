/** Checkpoints of networks in memory, for the life of the process. */
import type { Clock } from "../../kernel/base/clock.ts";
import { SeenSet } from "./seen-set.ts";
import type { CappedDigests, Evidence, Marks, NetworkMemory } from "./types.ts";

/** Returns one memory per network, always the same object. */
export function createMemoryStore(clock: Pick<Clock, "now">): (network: string) => NetworkMemory {
  const networks = new Map<string, NetworkMemory>();
  return (network) => {
    const known = networks.get(network) ?? {
      marks: memoryMarks(),
      seen: memorySeen(clock),
      evidence: memoryEvidence(),
      presence: memoryEvidence(),
    };
    networks.set(network, known);
    return known;
  };
}

function memoryMarks(): Marks {
  const marks = new Map<string, number>();
  return {
    get: (name) => marks.get(name),
    set: (name, markMs) => {
      marks.set(name, Math.max(markMs, marks.get(name) ?? 0));
      return Promise.resolve();
    },
    replace: (name, markMs) => {
      marks.set(name, markMs);
      return Promise.resolve();
    },
  };
}

function memorySeen(clock: Pick<Clock, "now">): NetworkMemory["seen"] {
  const sets = new Map<string, CappedDigests>();
  let batches = 0;
  return (name, capacity) => {
    const known = sets.get(name);
    if (known !== undefined) return known;
    const set = new SeenSet(capacity);
    const digests: CappedDigests = {
      has: (digest) => set.has(digest),
      add: (added, untilMs) => {
        set.add({ untilMs, number: (batches += 1), digests: [...added], parts: 0 });
        set.trim(clock.now());
        return Promise.resolve();
      },
      get size() {
        return set.size;
      },
      get evictedEarly() {
        return set.evictedEarly;
      },
    };
    sets.set(name, digests);
    return digests;
  };
}

/** Evidence that is lost at a restart. Values are copied, as a file store copies them. */
function memoryEvidence(): Evidence {
  const documents = new Map<string, string>();
  const read = (json: string | undefined): unknown =>
    json === undefined ? undefined : JSON.parse(json);
  return {
    get: (key) => read(documents.get(key)),
    list: (prefix) =>
      [...documents]
        .filter(([key]) => key.startsWith(prefix))
        .toSorted(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
        .map(([key, json]) => [key, read(json)]),
    change: (changes) => {
      for (const [key, value] of changes) {
        if (value === undefined) documents.delete(key);
        else documents.set(key, JSON.stringify(value));
      }
      return Promise.resolve();
    },
  };
}

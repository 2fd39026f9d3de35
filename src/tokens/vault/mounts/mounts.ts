/**
 * Mounts: which backend handles which path. They are stored sealed and opened at unseal; the
 * built-in ones (`sys/`, `auth/token/`, `cubbyhole/`) always exist. The longest matching path wins.
 */
import { create } from "@bufbuild/protobuf";
import { MountRowSchema, type MountRow } from "../../../gen/steward/state/v1/tokens_mounts_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { Backend, BackendFactory, Quota, Sharing } from "../../logical/types.ts";
import { RequestsInProgress } from "../core/requests-in-progress.ts";
import type { AuditMount } from "../types.ts";
import { assertTunable, withDeclared } from "./declared.ts";
import { assertFreePath, assertTtls } from "./rules.ts";
import { clearStorage, clearUnowned, createStorageView } from "./storage-view.ts";
import { mountRows } from "./tables.ts";
import { createSerial } from "../../../kernel/async/serial.ts";
import { late, waitFor } from "../../../kernel/async/wait.ts";

/**
 * How long unmounting waits for requests: a lookup of an installation (60 s) and a mint (10 s).
 * Below the deadline of the unmount request itself (90 s).
 */
const REQUESTS_END_MS = 75_000;

/** A mount that answers. */
export interface Mount extends AuditMount {
  /** Prefix of every key that the backend stores. */
  readonly uuid: string;
  readonly description: string;
  /** 0: the system's. */
  readonly defaultLeaseTtlMs: number;
  readonly maxLeaseTtlMs: number;
  readonly options: Readonly<Record<string, string>>;
  /** The configuration file declares it, so it cannot be taken away by a request. */
  readonly declared: boolean;
  /** Lives with its host: it may see the tokens that requests come with. */
  readonly trusted: boolean;
  readonly backend: Backend;
}

/** A mount to be. */
export interface MountSpec {
  /** Ends in a slash; of auth mounts it begins with `auth/`. */
  readonly path: string;
  readonly class: "secret" | "auth";
  readonly type: string;
  readonly description: string;
  readonly defaultLeaseTtlMs: number;
  readonly maxLeaseTtlMs: number;
  readonly options?: Readonly<Record<string, string>>;
}

/** Changes to a mount; absent ones stay. */
export type MountTuning = Partial<
  Pick<MountSpec, "description" | "defaultLeaseTtlMs" | "maxLeaseTtlMs" | "options">
>;

/** The mounts of one manager. */
export interface Mounts {
  /** The mount a path belongs to, with what is left of the path. */
  match(path: string): { readonly mount: Mount; readonly rest: string } | undefined;
  /**
   * Counts a request as in progress at a mount until the result is disposed: `disable` and `move`
   * wait for it. Call in the turn of `match`.
   */
  enter(mount: Mount): Disposable;
  at(path: string): Mount | undefined;
  /** The mount that a lease came from, also while it is being taken away. */
  forLease(path: string): Mount | undefined;
  /** Sorted by path. */
  all(): readonly Mount[];
  /** Times of a mount with the system's filled in. */
  limits(mount: Pick<Mount, "defaultLeaseTtlMs" | "maxLeaseTtlMs">): {
    readonly defaultLeaseTtlMs: number;
    readonly maxLeaseTtlMs: number;
  };
  /** Throws `invalid` for a taken path, an unknown type, wrong times. Durable. */
  enable(spec: MountSpec): Promise<Mount>;
  /**
   * Takes no more requests, waits for those in progress, revokes every lease and login below it,
   * then deletes it with its data. Throws `not_ready` when a request is still in progress after
   * 75 s, and a lease backend's error; then nothing is deleted. Ignores unknown paths.
   */
  disable(path: string): Promise<void>;
  /**
   * Throws `invalid` for an unknown or built-in mount, for wrong times and for another value than
   * the configuration file sets. Durable.
   */
  tune(path: string, change: MountTuning): Promise<void>;
  /**
   * Empties `from` as `disable` does, then serves the mount with its data at `to`. Throws `invalid`
   * for an unknown or built-in mount and a taken or malformed path, and as `disable` does; then
   * nothing has moved. Durable, in one transaction.
   */
  move(from: string, to: string): Promise<void>;
  /**
   * Opens the stored mounts, makes the declared ones that are missing and gives the others what the
   * configuration file sets; call when the store was unsealed. Deletes what an interrupted unmount
   * left.
   */
  open(): Promise<void>;
  /** Closes all but the built-in ones; an unmount that waits for requests is given up. */
  close(): Promise<void>;
}

export interface MountsDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Backends by type; each class has its own. */
  readonly factories: Readonly<Record<"secret" | "auth", Readonly<Record<string, BackendFactory>>>>;
  /** Built-in mounts. */
  readonly fixed: readonly Mount[];
  readonly declared: readonly MountSpec[];
  readonly system: { readonly defaultLeaseTtlMs: number; readonly maxLeaseTtlMs: number };
  /** Ends all leases below a prefix, and waits for it. */
  readonly endLeases: (prefix: string) => Promise<void>;
  /** What policies get wrong about a mount, for `Host.warnings`. */
  readonly warningsAbout?: (point: string) => Promise<readonly string[]>;
  /** Hears what installations have left, for `Host.quota`. */
  readonly quota?: (point: string, quota: Quota) => void;
  /** For `Host.sharing`. */
  readonly sharing?: (point: string) => Sharing;
}

/** Only the built-in mounts exist until `open`. */
export function createMounts(deps: MountsDeps): Mounts {
  return new MountTable(deps);
}

class MountTable implements Mounts {
  readonly #deps: MountsDeps;
  readonly #mounts = new Map<string, Mount>();
  /** By the mounts' uuids, which survive tuning. */
  readonly #requests = new Map<string, RequestsInProgress>();
  readonly #closing = new AbortController();
  /** Enabling and disabling go one after the other. */
  readonly #inTurn = createSerial();

  constructor(deps: MountsDeps) {
    this.#deps = deps;
    for (const mount of deps.fixed) this.#mounts.set(mount.point, mount);
  }

  match(path: string): { mount: Mount; rest: string } | undefined {
    // A mount may be named without its slash.
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const prefix = path.slice(0, end);
      const mount = this.#mounts.get(prefix.endsWith("/") ? prefix : `${prefix}/`);
      if (mount !== undefined)
        return { mount, rest: path.slice(Math.min(path.length, mount.point.length)) };
    }
    return undefined;
  }

  enter({ uuid }: Mount): Disposable {
    let requests = this.#requests.get(uuid);
    if (requests === undefined) this.#requests.set(uuid, (requests = new RequestsInProgress()));
    return requests.enter();
  }

  at(path: string): Mount | undefined {
    return this.#mounts.get(path);
  }

  all(): readonly Mount[] {
    return [...this.#mounts.values()].toSorted((left, right) =>
      left.point < right.point ? -1 : 1,
    );
  }

  limits(mount: Pick<Mount, "defaultLeaseTtlMs" | "maxLeaseTtlMs">): {
    defaultLeaseTtlMs: number;
    maxLeaseTtlMs: number;
  } {
    const { system } = this.#deps;
    const maxLeaseTtlMs = mount.maxLeaseTtlMs === 0 ? system.maxLeaseTtlMs : mount.maxLeaseTtlMs;
    return {
      maxLeaseTtlMs,
      defaultLeaseTtlMs: Math.min(
        maxLeaseTtlMs,
        mount.defaultLeaseTtlMs === 0 ? system.defaultLeaseTtlMs : mount.defaultLeaseTtlMs,
      ),
    };
  }

  enable(spec: MountSpec): Promise<Mount> {
    return this.#inTurn(async () => {
      assertFreePath(spec, [...this.#mounts.keys()]);
      assertTtls(spec, this.#deps.system);
      this.#factory(spec.class, spec.type);
      const row = this.#newRow(spec);
      const mount = await this.#openRow(spec.path, row);
      try {
        await this.#deps.env.write((tx) => tx.put(mountRows, spec.path, row));
      } catch (error) {
        await mount.backend.close();
        throw error;
      }
      this.#mounts.set(spec.path, mount);
      return mount;
    });
  }

  disable(path: string): Promise<void> {
    return this.#inTurn(async () => {
      const mount = this.#mounts.get(path);
      if (mount === undefined) return;
      this.#assertChangeable(mount, "unmount");
      await this.#emptied(mount, () => this.#deps.env.write((tx) => tx.delete(mountRows, path)));
      this.#requests.delete(mount.uuid);
      await this.#closeBackend(mount);
      await clearStorage(this.#deps.env, mount.uuid);
    });
  }

  move(from: string, to: string): Promise<void> {
    return this.#inTurn(async () => {
      const mount = this.#mounts.get(from);
      if (mount === undefined)
        throw new StewardError("invalid", `no mount at ${from.slice(0, 300)}`, {
          field: "from",
          rule: "mount",
        });
      this.#assertChangeable(mount, "move");
      if (to.startsWith("auth/") !== (mount.class === "auth"))
        throw new StewardError(
          "invalid",
          "an auth method can move only below auth/, a secrets engine only elsewhere",
          { field: "to", rule: "class" },
        );
      assertFreePath({ path: to, class: mount.class === "auth" ? "auth" : "secret" }, [
        ...this.#mounts.keys(),
      ]);
      const row = rowOf(mount);
      const moved = await this.#emptied(mount, async () => {
        const opened = await this.#openRow(to, row);
        try {
          await this.#deps.env.write((tx) => {
            tx.delete(mountRows, from);
            tx.put(mountRows, to, row);
          });
        } catch (error) {
          await opened.backend.close();
          throw error;
        }
        return opened;
      });
      this.#mounts.set(to, moved);
      await this.#closeBackend(mount);
    });
  }

  #assertChangeable(mount: Mount, change: "unmount" | "move"): void {
    const { point } = mount;
    if (this.#deps.fixed.includes(mount))
      throw new StewardError("invalid", `cannot ${change} ${point}: it is built in`);
    if (mount.declared)
      throw new StewardError(
        "invalid",
        `${point} is declared by tokens.mounts (the default, when the configuration file has none); write tokens.mounts without it ([] for none), restart, then repeat this request`,
        { rule: "declared" },
      );
  }

  /**
   * Takes a mount out of the table, waits for its requests, ends its leases, then runs `change`.
   * When any of it fails, the mount is back.
   */
  async #emptied<T>(mount: Mount, change: () => Promise<T>): Promise<T> {
    const { point } = mount;
    // Out of the table first: what is minted from here on would be left behind. Leases still find
    // it through `forLease`.
    this.#mounts.delete(point);
    this.#ending.set(point, mount);
    try {
      await this.#requestsEnd(mount);
      await this.#deps.endLeases(point);
      return await change();
    } catch (error) {
      this.#mounts.set(point, mount);
      throw error;
    } finally {
      this.#ending.delete(point);
    }
  }

  // A request in progress may still create a token or a lease, which nothing would revoke later.
  async #requestsEnd({ point, uuid }: Mount): Promise<void> {
    const none = await waitFor(this.#requests.get(uuid)?.none() ?? Promise.resolve(), {
      clock: this.#deps.clock,
      timeoutMs: REQUESTS_END_MS,
      signal: this.#closing.signal,
    });
    if (none === late)
      throw new StewardError(
        "not_ready",
        `requests to ${point} are still in progress; nothing has changed, try again`,
        { rule: "in_progress", retryAfterMs: 1_000 },
      );
  }

  /** What a backend leaves open must not keep its mount's data from being deleted. */
  async #closeBackend({ point, backend }: Mount): Promise<void> {
    try {
      await backend.close();
    } catch (thrown) {
      this.#deps.log.error(
        "closing a mount failed; its connections may stay open until a restart",
        {
          mount: point,
          error: toStewardError(thrown),
        },
      );
    }
  }

  /** Mounts that only revoke any more. */
  readonly #ending = new Map<string, Mount>();

  forLease(path: string): Mount | undefined {
    return this.#mounts.get(path) ?? this.#ending.get(path);
  }

  tune(path: string, change: MountTuning): Promise<void> {
    return this.#inTurn(async () => {
      const mount = this.#mounts.get(path);
      if (mount === undefined)
        throw new StewardError("invalid", `no mount at ${path}`, { rule: "mount" });
      if (this.#deps.fixed.includes(mount))
        throw new StewardError("invalid", `cannot tune ${path}: it is built in`);
      const declared = this.#deps.declared.find((spec) => spec.path === path);
      assertTunable(path, declared, change);
      const next = { ...mount, ...change };
      assertTtls(next, this.#deps.system);
      await this.#save(next);
    });
  }

  async #save(mount: Mount): Promise<void> {
    await this.#deps.env.write((tx) => tx.put(mountRows, mount.point, rowOf(mount)));
    this.#mounts.set(mount.point, mount);
  }

  async open(): Promise<void> {
    const rows = this.#deps.env.read((snapshot) => [...snapshot.range(mountRows)]);
    await this.#deleteLeftovers([...this.#deps.fixed, ...rows.map(([, row]) => row)]);
    for (const [path, row] of rows) {
      if (!this.#mounts.has(path)) this.#mounts.set(path, await this.#openRow(path, row));
    }
    const { declared, system } = this.#deps;
    for (const spec of declared) {
      const present = this.#mounts.get(spec.path);
      if (present === undefined) await this.enable(spec);
      else if (present.type !== spec.type)
        throw new StewardError(
          "invalid",
          `the configuration declares ${spec.path} as ${spec.type}, but ${present.type} is mounted there; choose another path`,
        );
      else {
        assertTtls(spec, system);
        const settings = withDeclared(present, spec, system);
        // A start that changes nothing needs no free disk.
        if (settings !== undefined)
          await this.#inTurn(() => this.#save({ ...present, ...settings }));
      }
    }
  }

  /** A failure is logged: it must not prevent the start, and the next start tries again. */
  async #deleteLeftovers(mounted: readonly Pick<Mount, "uuid">[]): Promise<void> {
    try {
      const owners = new Set(mounted.map(({ uuid }) => uuid));
      const deleted = await clearUnowned(this.#deps.env, owners);
      if (deleted > 0)
        this.#deps.log.warn("deleted the data of mounts whose unmounting was interrupted", {
          mounts: deleted,
        });
    } catch (thrown) {
      this.#deps.log.error(
        "deleting the data of earlier mounts failed; the next start tries again",
        {
          error: toStewardError(thrown),
        },
      );
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const [path, mount] of [...this.#mounts, ...this.#ending]) {
      if (this.#deps.fixed.includes(mount)) continue;
      this.#mounts.delete(path);
      await this.#closeBackend(mount);
    }
  }

  #factory(kind: "secret" | "auth", type: string): BackendFactory {
    const factories = this.#deps.factories[kind];
    const factory = Object.hasOwn(factories, type) ? factories[type] : undefined;
    if (factory === undefined)
      throw new StewardError("invalid", `plugin not found in the catalog: ${type.slice(0, 100)}`, {
        rule: "type",
        remedy: `use ${Object.keys(factories).join(" or ")}`,
      });
    return factory;
  }

  #newRow(spec: MountSpec): MountRow {
    const { ids } = this.#deps;
    return create(MountRowSchema, {
      ...spec,
      options: { ...spec.options },
      accessor: `${spec.class === "auth" ? "auth_" : ""}${spec.type}_${Buffer.from(ids.bytes(4)).toString("hex")}`,
      uuid: ids.uuid(),
    });
  }

  async #openRow(path: string, row: MountRow): Promise<Mount> {
    const { env, clock, log, declared, warningsAbout, quota, sharing } = this.#deps;
    const kind = row.class === "auth" ? "auth" : "secret";
    const limits = (): { defaultLeaseTtlMs: number; maxLeaseTtlMs: number } =>
      this.limits(this.#mounts.get(path) ?? row);
    const backend = await this.#factory(
      kind,
      row.type,
    )({
      storage: createStorageView(env, row.uuid),
      limits,
      clock,
      log: log.child(row.type),
      ...(warningsAbout === undefined ? {} : { warnings: () => warningsAbout(path) }),
      ...(quota === undefined ? {} : { quota: (found) => quota(path, found) }),
      ...(sharing === undefined ? {} : { sharing: sharing(path) }),
    });
    return {
      point: path,
      class: kind,
      type: row.type,
      accessor: row.accessor,
      uuid: row.uuid,
      description: row.description,
      defaultLeaseTtlMs: row.defaultLeaseTtlMs,
      maxLeaseTtlMs: row.maxLeaseTtlMs,
      options: row.options,
      declared: declared.some((spec) => spec.path === path),
      trusted: kind === "auth",
      backend,
    };
  }
}

function rowOf(mount: Mount): MountRow {
  const {
    class: kind,
    type,
    accessor,
    uuid,
    description,
    defaultLeaseTtlMs,
    maxLeaseTtlMs,
    options,
  } = mount;
  return create(MountRowSchema, {
    class: kind,
    type,
    accessor,
    uuid,
    description,
    defaultLeaseTtlMs,
    maxLeaseTtlMs,
    options: { ...options },
  });
}

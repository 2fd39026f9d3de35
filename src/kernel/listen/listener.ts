/**
 * One TCP port or Unix socket that serves HTTP/1.1 and HTTP/2, with or without TLS, to one handler, within limits
 * that hold whatever the client or the handler does, and that drains when it stops.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { formatAddress, type Address } from "../config/values/address.ts";
import { bind, refuseOpenAddress, type SocketPath } from "./bind.ts";
import {
  createCertificates,
  RELOAD_MS,
  type Certificates,
  type CertificateStatus,
} from "./tls/certificates.ts";
import {
  createClientAuthorities,
  type ClientAuthorities,
  type ClientCertificates,
} from "./tls/client-certificates.ts";
import { createConnections, type Connections } from "./admission/connections.ts";
import type { Handler, Prepare, Refuse } from "./handler.ts";
import { createHttp1Side, type Http1Side } from "./http/h1.ts";
import { createHttp2Side, type Http2Side } from "./http/h2.ts";
import type { TlsFiles } from "./tls/key-pair.ts";
import { resolveLimits, type LimitOverrides, type ListenLimits } from "./admission/limits.ts";
import { createRefusals, type RefusalCount } from "./admission/refusals.ts";
import { createRequests, refuseAsText, type Requests } from "./requests.ts";
import { classifyAllAsOwner, type Classify } from "./admission/shares.ts";
import { sniff, type Protocol } from "./http/sniff.ts";
import { createTlsSide, type TlsSide } from "./tls/tls-side.ts";
import { createUncommonMethods, type UncommonMethod } from "./http/uncommon-methods.ts";
import { waitFor } from "../async/wait.ts";

/** TLS of a port; such a port speaks only TLS. */
export interface ListenTls extends TlsFiles {
  /** Reload interval of the files in milliseconds; default 5000. */
  readonly reloadMs?: number;
  /** Client certificates; not requested by default. */
  readonly clients?: ClientCertificates;
}

export interface ListenerSpec {
  /** Name in the log, e.g. `gateway`. */
  readonly name: string;
  /** The configuration key of the address, named in remedies, e.g. `gateway.listen`. */
  readonly setting: string;
  readonly address: Address | SocketPath;
  /** Whether requests need a credential. Without one only loopback addresses are accepted. */
  readonly credential: boolean;
  /**
   * TLS 1.2 or newer, h2 and http/1.1 by ALPN. Plain HTTP is then refused, and without it TLS is.
   */
  readonly tls?: ListenTls;
  readonly limits?: LimitOverrides;
  /** Assigns requests to shares of the capacity; default: all are owners. */
  readonly classify?: Classify;
  /** Answers requests that are not admitted; default: 503 as text. */
  readonly refuse?: Refuse;
  /**
   * Methods served although Node's HTTP/1.1 parser refuses them; over HTTP/2 all are. Default none.
   */
  readonly rescue?: readonly UncommonMethod[];
  /**
   * Sets headers of every response, including those of the port itself, such as refusals. Default
   * none.
   */
  readonly prepare?: Prepare;
  readonly handle: Handler;
}

export interface ListenerDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** A port, open between `start` and `stop`. */
export interface Listener {
  readonly name: string;
  /** The bound port; 0 while unbound, and of a Unix socket. */
  readonly port: number;
  /** Fires when `stop` begins: endless streams should end. */
  readonly draining: AbortSignal;
  /**
   * Throws `conflict` when the port is taken, `denied` when it is reserved, `invalid` when the
   * address is not this machine's or the key pair is unusable.
   */
  start(): Promise<void>;
  /**
   * Stops accepting, lets requests finish, cuts the rest after `deadlineMs`. Works without start,
   * and twice.
   */
  stop(deadlineMs: number): Promise<void>;
  /** Running requests, without long-lived streams. */
  inFlight(): number;
  /** Long-lived streams. */
  streams(): number;
  connections(): number;
  refused(): readonly RefusalCount[];
  /** The certificate in use; undefined without TLS and before `start`. */
  certificate(): CertificateStatus | undefined;
}

/** Throws `invalid` for a non-loopback address without a credential, before any socket opens. */
export function createListener(spec: ListenerSpec, deps: ListenerDeps): Listener {
  refuseOpenAddress(spec);
  return new PortListener(spec, deps);
}

const BUSY =
  "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 21\r\n\r\ntoo many connections\n";
const NO_TLS =
  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: 32\r\n\r\nthis port speaks HTTP, not TLS.\n";
const NOT_PLAIN =
  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: 34\r\n\r\nthis port speaks HTTPS, not HTTP.\n";
const LINGER_MS = 1000;
const LINGERING = 64;

class PortListener implements Listener {
  readonly name: string;
  readonly #spec: ListenerSpec;
  readonly #deps: ListenerDeps;
  readonly #limits: ListenLimits;
  readonly #connections: Connections;
  readonly #lingering = new Set<Socket>();
  readonly #refusals = createRefusals();
  readonly #requests: Requests;
  readonly #h1: Http1Side;
  readonly #h2: Http2Side;
  readonly #tls: TlsSide;
  readonly #draining = new AbortController();
  readonly #certificates: Certificates | undefined;
  readonly #authorities: ClientAuthorities | undefined;
  #front: Server | undefined;
  #stopped: Promise<void> | undefined;
  /** Called when a draining listener has lost its last connection. */
  #empty: (() => void) | undefined;

  constructor(spec: ListenerSpec, deps: ListenerDeps) {
    this.name = spec.name;
    this.#spec = spec;
    this.#deps = deps;
    this.#limits = resolveLimits(spec.limits);
    this.#connections = createConnections(() => this.#empty?.());
    const connections = this.#connections;
    this.#requests = createRequests(
      this.#limits,
      {
        classify: spec.classify ?? classifyAllAsOwner,
        refuse: spec.refuse ?? refuseAsText,
        connections,
        refusals: this.#refusals,
        handle: spec.handle,
      },
      deps,
    );
    const uncommon =
      spec.rescue === undefined
        ? undefined
        : createUncommonMethods(
            { methods: spec.rescue, headMs: this.#limits.headerMs },
            deps.clock,
          );
    const prepare = spec.prepare ?? (() => undefined);
    this.#h1 = createHttp1Side(this.#limits, {
      prepare,
      serve: this.#requests.serve,
      busy: this.#requests.count,
      uncommon,
      clock: deps.clock,
    });
    this.#h2 = createHttp2Side(
      this.#limits,
      { prepare, serve: this.#requests.serve, cut: (socket) => connections.cut(socket) },
      deps,
    );
    const clients = spec.tls?.clients;
    this.#tls = createTlsSide({
      handshakeMs: this.#limits.headerMs,
      clientAuth: clients?.mode ?? "none",
      log: deps.log,
    });
    this.#authorities =
      clients?.caFile === undefined || clients.mode === "none"
        ? undefined
        : createClientAuthorities(clients.caFile, deps, spec.tls?.reloadMs ?? RELOAD_MS);
    this.#certificates =
      spec.tls === undefined ? undefined : createCertificates(spec.tls, deps, spec.tls.reloadMs);
  }

  get port(): number {
    const bound = this.#front?.address();
    return typeof bound === "object" && bound !== null ? bound.port : 0;
  }

  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  inFlight(): number {
    return this.#requests.inFlight();
  }

  streams(): number {
    return this.#requests.streams();
  }

  connections(): number {
    return this.#connections.size;
  }

  refused(): readonly RefusalCount[] {
    return this.#refusals.counts();
  }

  certificate(): CertificateStatus | undefined {
    return this.#certificates?.status();
  }

  async start(): Promise<void> {
    await this.#certificates?.start();
    await this.#authorities?.start().catch((error: unknown) => {
      this.#certificates?.stop();
      throw error;
    });
    // Half-open like every HTTP/1.1 server: a client may end its side after the request and still
    // read the response.
    const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    );
    await bind(front, this.#spec).catch((error: unknown) => {
      this.#certificates?.stop();
      this.#authorities?.stop();
      throw error;
    });
    front.on("error", (error) => this.#deps.log.error("the listener failed", { error }));
    this.#front = front;
    const { address } = this.#spec;
    this.#deps.log.info("listening", {
      name: this.name,
      address: "path" in address ? address.path : formatAddress({ ...address, port: this.port }),
    });
  }

  stop(deadlineMs: number): Promise<void> {
    this.#stopped ??= this.#drain(deadlineMs);
    return this.#stopped;
  }

  #accept(socket: Socket): void {
    socket.on("error", (error) => this.#deps.log.debug("a connection failed", { error }));
    if (this.#connections.size >= this.#limits.connections) {
      this.#refusals.add("connections");
      if (!this.#connections.makeRoom()) return this.#turnAway(socket, BUSY);
    }
    this.#connections.hold(socket);
    sniff(socket, {
      clock: this.#deps.clock,
      deadlineMs: this.#limits.headerMs,
      decided: (protocol) => this.#handOver(socket, protocol),
    });
  }

  #handOver(socket: Socket, protocol: Protocol): void {
    const pair = this.#certificates?.pair();
    if (pair === undefined) {
      if (protocol === "tls") this.#turnAway(socket, NO_TLS);
      else this.#serve(socket, protocol);
    } else if (protocol === "tls") {
      const clientCa = this.#authorities?.current();
      if (this.#authorities !== undefined && clientCa === undefined) return void socket.destroy();
      this.#tls.take(socket, { pair, clientCa }, (secured, agreed) => {
        this.#connections.hold(secured, socket);
        this.#connections.forget(socket);
        this.#serve(secured, agreed);
      });
    } else this.#turnAway(socket, NOT_PLAIN);
  }

  #serve(socket: Socket, protocol: "h1" | "h2"): void {
    if (protocol === "h1") this.#h1.take(socket);
    else this.#h2.take(socket);
  }

  // Closing with unread bytes would reset the connection before the client reads why: read on for a
  // moment, for a limited number.
  #turnAway(socket: Socket, answer: string): void {
    if (this.#lingering.size >= LINGERING) return void socket.destroy();
    this.#lingering.add(socket);
    const timer = this.#deps.clock.timer(this.#deps.clock.monotonic() + LINGER_MS, () =>
      socket.destroy(),
    );
    socket
      .once("end", () => socket.destroy())
      .once("close", () => {
        timer[Symbol.dispose]();
        this.#lingering.delete(socket);
      });
    socket.resume();
    socket.end(answer);
  }

  async #drain(deadlineMs: number): Promise<void> {
    this.#draining.abort();
    this.#certificates?.stop();
    this.#authorities?.stop();
    this.#front?.close();
    const closed = new Promise<void>((resolve) => {
      this.#empty = resolve;
      if (this.#connections.size === 0) resolve();
    });
    this.#requests.drain();
    this.#h2.drain();
    for (const socket of this.#connections.all())
      if (this.#requests.count(socket) === 0 && !this.#h2.holds(socket)) socket.destroy();
    await waitFor(closed, { clock: this.#deps.clock, timeoutMs: deadlineMs });
    for (const socket of [...this.#connections.all(), ...this.#lingering])
      this.#connections.cut(socket);
    this.#h1.close();
    await closed;
  }
}

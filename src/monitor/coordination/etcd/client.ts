/** Calls of etcd's gRPC API over several endpoints: one channel each, the next after a failure. */
import { type ChannelCredentials, Client, type ClientDuplexStream, Metadata } from "@grpc/grpc-js";
import { StewardError } from "../../../kernel/base/errors.ts";

/** Answers are a few hundred bytes. */
const MAX_ANSWER_BYTES = 65_536;

const asBuffer = (message: Uint8Array): Buffer =>
  Buffer.from(message.buffer, message.byteOffset, message.byteLength);
const asBytes = (message: Buffer): Uint8Array => message;

export class EtcdClient implements Disposable {
  readonly #clients = new Map<number, Client>();
  readonly #endpoints: readonly string[];
  readonly #credentials: () => ChannelCredentials;
  #current = 0;

  /** `endpoints` are `host:port`, at least one. Credentials are made anew for each connection. */
  constructor(endpoints: readonly string[], credentials: () => ChannelCredentials) {
    this.#endpoints = endpoints;
    this.#credentials = credentials;
  }

  /**
   * The answer to one request. Rejects with `upstream` when the endpoint fails; the next call then
   * uses the next endpoint. The same request is never sent twice.
   */
  call(path: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const index = this.#current;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const call = this.#client(index).makeUnaryRequest(
        path,
        asBuffer,
        asBytes,
        request,
        new Metadata(),
        {},
        (error, answer) => {
          signal.removeEventListener("abort", cancel);
          if (error === null && answer !== undefined) return resolve(answer);
          reject(this.#failed(index, path, error, signal));
        },
      );
      const cancel = (): void => call.cancel();
      signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /**
   * Sends one request on a stream and resolves with the first answer that `accept` takes; the
   * stream is then cancelled. Rejects as `call` does, also when the stream ends first.
   */
  stream(
    path: string,
    request: Uint8Array,
    signal: AbortSignal,
    accept: (answer: Uint8Array) => boolean,
  ): Promise<Uint8Array> {
    const index = this.#current;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stream: ClientDuplexStream<Uint8Array, Uint8Array> = this.#client(
        index,
      ).makeBidiStreamRequest(path, asBuffer, asBytes);
      const cancel = (): void => stream.cancel();
      let settled = false;
      const settle = (end: () => void): void => {
        // The cancellation of a stream that has served its purpose arrives as an error as well.
        if (settled) return;
        settled = true;
        signal.removeEventListener("abort", cancel);
        end();
      };
      const fail = (error: { readonly details: string } | null): void =>
        settle(() => reject(this.#failed(index, path, error, signal)));
      stream.on("error", fail);
      stream.on("end", () => fail(null));
      stream.on("data", (answer: Uint8Array) => {
        if (settled) return;
        try {
          if (!accept(answer)) return;
          settle(() => resolve(answer));
        } catch {
          // Thrown on, it would end the process.
          fail({ details: "its answer is no valid message" });
        }
        stream.cancel();
      });
      signal.addEventListener("abort", cancel, { once: true });
      stream.write(request);
    });
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #client(index: number): Client {
    const known = this.#clients.get(index);
    if (known !== undefined) return known;
    const client = new Client(this.#endpoints[index] ?? "", this.#credentials(), {
      "grpc.max_receive_message_length": MAX_ANSWER_BYTES,
      "grpc.enable_retries": 0,
      // Connections are not shared between clients: a new one has new credentials.
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#clients.set(index, client);
    return client;
  }

  #failed(
    index: number,
    path: string,
    error: { readonly details: string } | null,
    signal: AbortSignal,
  ): Error {
    // Whoever cancels a call says nothing about the endpoint; a call without an answer does.
    const reason: unknown = signal.aborted ? signal.reason : undefined;
    if (reason instanceof StewardError && reason.code === "cancelled") return reason;
    // Calls that fail together move on by one endpoint, not by one each. A new connection does not
    // wait for the backoff of the old one, and has what certificate files hold by then.
    if (this.#current === index) this.#current = (index + 1) % this.#endpoints.length;
    this.#clients.get(index)?.close();
    this.#clients.delete(index);
    if (signal.aborted) return signal.reason as Error;
    const why = error?.details ?? "the stream ended";
    const endpoint = this.#endpoints[index] ?? "";
    return new StewardError("upstream", `etcd at ${endpoint} refused ${path}: ${why}`, {
      remedy: "check coordination.endpoints, coordination.tls and the health of etcd",
      ...(error === null ? {} : { cause: error }),
    });
  }
}

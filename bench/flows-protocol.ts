/** Messages between `bench/flows.ts` and the processes that it starts. */
import type { ProbeReport } from "./thread-probe.ts";

/** Records of one body and connections of one record. */
export const RECORDS = 73;
export const CONNECTIONS = 6;

/** A device that reports its traffic. */
export interface Reporter {
  readonly nodeId: string;
  readonly address: string;
}

/** To a sender: one request after the other for this long. */
export interface Load {
  readonly port: number;
  readonly authorization: string;
  readonly ms: number;
  /** Pause between two requests that limits the rate; undefined sends as fast as answers come. */
  readonly requestsPerSecond: number | undefined;
  /** Differs for each sender and load. */
  readonly seed: number;
  readonly reporters: readonly Reporter[];
}

/** Of a sender. Times of answered requests in milliseconds. */
export interface LoadReport {
  readonly times: readonly number[];
  /** Answers other than 200, by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly bytes: number;
}

/** From a server: its port when it listens, then the log records that it has received. */
export interface ServerReport {
  readonly port?: number;
  readonly logRecords?: number;
}

/** From the daemon's main thread. */
export interface DaemonReport {
  readonly threads: readonly ProbeReport[];
}

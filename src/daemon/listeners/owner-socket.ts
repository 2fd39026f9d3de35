/**
 * The Unix socket of the owner, `steward.sock` in the state folder: what whoever may use that folder
 * asks of the running daemon. It makes backups, which no other process can make while the daemon
 * writes (docs/decisions/state-backup.md).
 */
import { chmodSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { ownMessage, StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { BackupJob, RunBackup } from "../../kernel/state/backups/backup-job.ts";
import {
  BACKUP_PATH,
  STAGING,
  type StagedReply,
} from "../../kernel/state/backups/staged-backup.ts";
import type { Component } from "../../kernel/supervisor/component.ts";

export const OWNER_SOCKET = "steward.sock";
/** Linux takes no longer address of a Unix socket. */
export const MAX_SOCKET_PATH_BYTES = 107;
/** For making the backup, and for a command that copies gigabytes to a slow disk. */
const MAX_SILENT_MS = 6 * 3_600_000;

export interface OwnerSocketDeps {
  readonly log: Log;
  readonly run: RunBackup;
  /** All of a job but where it goes; read for each backup. Throws when there is no room for one. */
  readonly job: () => Omit<BackupJob, "target">;
}

/** The component, named `owner`. A socket that cannot be opened is logged; the daemon goes on. */
export function ownerSocket(
  deps: OwnerSocketDeps,
  { directory, needs }: { readonly directory: string; readonly needs: readonly string[] },
): Component {
  const { log } = deps;
  const path = join(directory, OWNER_SOCKET);
  const staging = join(directory, STAGING);
  const stopping = new AbortController();
  let isBusy = false;
  const server = createServer(
    { requestTimeout: 10_000, maxHeaderSize: 4_096 },
    (request, response) => {
      request.resume();
      if (request.method !== "POST" || request.url !== BACKUP_PATH)
        return void reply(
          response,
          404,
          refusal("not_found", "the owner's socket has no such path"),
        );
      if (isBusy) return void reply(response, 409, refusal("conflict", "a backup is being made"));
      isBusy = true;
      stage(request, response)
        .catch((error: unknown) =>
          log.warn("what a backup left cannot be removed", { error, path: staging }),
        )
        .finally(() => (isBusy = false));
    },
  );
  server.timeout = MAX_SILENT_MS;
  server.maxConnections = 8;

  async function stage(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    const left = new Promise<void>((resolve) =>
      response.once("close", () => {
        gone.abort(new StewardError("cancelled", "the command has left"));
        resolve();
      }),
    );
    try {
      await rm(staging, { recursive: true, force: true });
      const manifest = await deps.run(
        { ...deps.job(), target: staging },
        AbortSignal.any([gone.signal, stopping.signal]),
      );
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(`${JSON.stringify({ directory: staging, manifest } satisfies StagedReply)}\n`);
      log.info("backup made for a command", { stores: manifest.stores.length });
      await left;
    } catch (thrown) {
      if (!gone.signal.aborted) {
        const { code, remedy } = toStewardError(thrown);
        log.warn("the backup for a command failed", { error: thrown });
        await reply(response, 500, { error: { code, message: ownMessage(thrown), remedy } });
      }
    } finally {
      request.destroy();
      await rm(staging, { recursive: true, force: true });
    }
  }

  return {
    name: "owner",
    needs,
    readiness: "none",
    async start() {
      // Of a daemon that was killed; the lock of the folder is ours.
      rmSync(path, { force: true });
      rmSync(staging, { recursive: true, force: true });
      try {
        await listen(path);
      } catch (error) {
        log.warn("`steward backup` cannot reach this daemon: its socket cannot be opened", {
          path,
          error,
          remedy: "stop the daemon before a backup by hand, or give it a shorter state.directory",
        });
      }
    },
    async stop() {
      stopping.abort(new StewardError("cancelled", "the daemon stops"));
      if (!server.listening) return;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function listen(address: string): Promise<void> {
    if (Buffer.byteLength(address) > MAX_SOCKET_PATH_BYTES)
      throw new StewardError(
        "invalid",
        `its path has ${Buffer.byteLength(address)} bytes, and a Unix socket at most ${MAX_SOCKET_PATH_BYTES}`,
      );
    await new Promise<void>((resolve, reject) =>
      server.once("error", reject).listen(address, resolve),
    );
    chmodSync(address, 0o600);
  }
}

function refusal(code: "not_found" | "conflict", message: string): StagedReply {
  return { error: { code, message, remedy: undefined } };
}

function reply(response: ServerResponse, status: number, body: StagedReply): Promise<void> {
  return new Promise((resolve) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(`${JSON.stringify(body)}\n`, resolve);
  });
}

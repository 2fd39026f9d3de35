/** What the paths below `sys/` stand on. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { Wrapping } from "../core/types.ts";
import type { Mounts } from "../mounts/mounts.ts";
import type { GenerateRoot } from "../seal/generate-root.ts";
import type { KeyRotation } from "../seal/key-rotation.ts";
import type { Rekey } from "../seal/rekey.ts";
import type { Seal } from "../seal/types.ts";
import type { Audit, Leases, Policies, Tokens } from "../types.ts";

/** The seal as `sys/` shows and turns it. */
export interface SealControl extends Pick<Seal, "status" | "reset" | "shared"> {
  /** The keys leave the memory; resolves when nothing can be read any more. */
  seal(): Promise<void>;
  /** Takes the key or a share of it. Throws as `Seal.unseal` does. */
  unseal(key: string): Promise<void>;
}

/** The built-in backend has access to everything. */
export interface SystemDeps {
  readonly env: Env;
  readonly mounts: () => Mounts;
  readonly tokens: Tokens;
  readonly policies: Policies;
  readonly leases: Leases;
  readonly audit: Audit;
  readonly wrapping: Wrapping;
  readonly seal: SealControl;
  readonly rotation: Pick<KeyRotation, "status" | "rotate">;
  /** Operations of the holders of key shares; undefined with a key file. */
  readonly shared: { readonly rekey: Rekey; readonly generateRoot: GenerateRoot } | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** As Vault's clients read it. */
  readonly version: string;
  /** Name and id of this installation. */
  readonly cluster: () => { readonly name: string; readonly id: string };
}

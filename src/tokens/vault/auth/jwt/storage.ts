/** Storage of a JWT mount: its configuration and its roles. */
import {
  JwtConfigRowSchema,
  JwtRoleRowSchema,
  type JwtConfigRow,
  type JwtRoleRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Ids } from "../../../../kernel/base/ids.ts";
import { protobufCodec } from "../../../../kernel/state/values.ts";
import type { StorageView } from "../../../logical/types.ts";

const configCodec = protobufCodec(JwtConfigRowSchema);
const roleCodec = protobufCodec(JwtRoleRowSchema);
const CONFIG = "config";
const MOUNT = "mount";
const MOUNT_BYTES = 32;

export interface JwtStorage {
  /** Unique id of the mount, without meaning. */
  readonly mountId: string;
  config(): Promise<JwtConfigRow | undefined>;
  saveConfig(row: JwtConfigRow): Promise<void>;
  role(name: string): Promise<JwtRoleRow | undefined>;
  roleNames(): Promise<readonly string[]>;
  saveRole(name: string, row: JwtRoleRow): Promise<void>;
  deleteRole(name: string): Promise<void>;
}

export async function openJwtStorage(storage: StorageView, ids: Ids): Promise<JwtStorage> {
  const known = await storage.get(MOUNT);
  const mount = known ?? ids.bytes(MOUNT_BYTES);
  if (known === undefined) await storage.put(MOUNT, mount);
  return {
    mountId: `jwt-${Buffer.from(mount).toString("base64url")}`,
    async config() {
      const bytes = await storage.get(CONFIG);
      return bytes === undefined ? undefined : configCodec.read(bytes);
    },
    saveConfig: (row) => storage.put(CONFIG, configCodec.write(row)),
    async role(name) {
      const bytes = await storage.get(`role/${name}`);
      return bytes === undefined ? undefined : roleCodec.read(bytes);
    },
    roleNames: () => storage.list("role/"),
    saveRole: (name, row) => storage.put(`role/${name}`, roleCodec.write(row)),
    deleteRole: (name) => storage.delete(`role/${name}`),
  };
}

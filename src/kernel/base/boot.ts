/**
 * What the system knows about its own boot: it lets a process count the time since an earlier
 * process of the same boot.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** The boot id where the system gives none; it equals no other boot. */
export const UNKNOWN_BOOT = "unknown";

/** One boot of the machine. */
export interface Boot {
  /** Another one after each boot; `UNKNOWN_BOOT` where the system gives none. */
  readonly id: string;
  /**
   * Milliseconds since the boot, suspension included (CLOCK_BOOTTIME on Linux, to 10 ms). In a
   * container it may start later.
   */
  uptimeMs(): number;
}

/** The boot of this machine. The id is `/proc/sys/kernel/random/boot_id`, see random(4). */
export const systemBoot: Boot = { id: readBootId(), uptimeMs: () => uptime() * 1_000 };

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || UNKNOWN_BOOT;
  } catch {
    return UNKNOWN_BOOT;
  }
}

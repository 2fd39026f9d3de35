/** Certificate and key of a listener, with the rules that all listeners share. */
import { createSecureContext } from "node:tls";
import type { Finding } from "../findings.ts";
import { defineKey, type Key } from "../key.ts";
import type { Check } from "../load.ts";
import { path } from "../values/types.ts";

/** Empty means unset. */
export interface TlsFileKeys {
  readonly certFile: Key<string>;
  readonly keyFile: Key<string>;
  /** Both or neither, readable, and matching. */
  readonly check: Check;
}

/**
 * Declares `<prefix>.cert_file` and `<prefix>.key_file`; `what` names the listener in the
 * reference.
 */
export function defineTlsFiles(prefix: string, what: string): TlsFileKeys {
  const certFile: Key<string> = defineKey({
    path: `${prefix}.cert_file`,
    type: path,
    default: "",
    help: `PEM certificate chain of ${what}. Read again when it changes.`,
  });
  const keyFile: Key<string> = defineKey({
    path: `${prefix}.key_file`,
    type: path,
    default: "",
    help: "PEM private key of the certificate. Read again when it changes.",
  });
  const check: Check = {
    needs: [certFile, keyFile],
    run(config, _environment, readFile) {
      const cert = config.get(certFile);
      const key = config.get(keyFile);
      if (cert === "" && key === "") return [];
      if (cert === "")
        return [wrong(certFile, `is missing, ${keyFile.path} is set`, "set both or neither.")];
      if (key === "")
        return [wrong(keyFile, `is missing, ${certFile.path} is set`, "set both or neither.")];
      return checkPair({ certFile, keyFile, cert, key }, readFile);
    },
  };
  return { certFile, keyFile, check };
}

interface Pair {
  readonly certFile: Key<string>;
  readonly keyFile: Key<string>;
  readonly cert: string;
  readonly key: string;
}

function checkPair(
  { certFile, keyFile, cert, key }: Pair,
  readFile: (path: string) => string,
): Finding[] {
  const findings: Finding[] = [];
  const read = (row: Key<string>, file: string): string | undefined => {
    try {
      return readFile(file);
    } catch {
      findings.push(wrong(row, `${file} cannot be read`, "check the path and its permissions."));
      return undefined;
    }
  };
  const [certText, keyText] = [read(certFile, cert), read(keyFile, key)];
  if (certText === undefined || keyText === undefined) return findings;
  try {
    createSecureContext({ cert: certText, key: keyText, minVersion: "TLSv1.2" });
    return [];
  } catch {
    // OpenSSL's message is omitted: it may quote the key.
    return [
      wrong(
        certFile,
        `${cert} and ${key} are not a certificate and its key`,
        "use PEM files that belong together.",
      ),
    ];
  }
}

function wrong(key: Key<string>, rule: string, remedy: string): Finding {
  return { severity: "error", path: key.path, rule, remedy };
}

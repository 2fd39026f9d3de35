/** An issuer of identity tokens on loopback: discovery, keys, and tokens of any kind. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** Paths asked for, in order. */
  readonly requests: string[];
  /** Answers in place of the documents; undefined serves them. */
  fault: { readonly status: number; readonly body: string } | undefined;
  /** What the discovery says of itself. */
  called: string;
  /** A new key in place of all others, by which further tokens are signed. */
  rotate(algorithm?: string): Promise<void>;
  /** A new key beside the others, by which further tokens are signed. */
  add(): Promise<void>;
  /** The key by which tokens are signed. */
  key(): CryptoKey;
  /**
   * A token of a CI job for five minutes, with these claims changed; undefined leaves one out, also
   * the `kid` of the header.
   */
  token(
    claims?: Readonly<Record<string, unknown>>,
    options?: { readonly key?: CryptoKey; readonly alg?: string; readonly kid?: undefined },
  ): Promise<string>;
}

export const AUDIENCE = "https://steward.example.org";

export async function startIssuer(now: () => number = () => Date.now()): Promise<Issuer> {
  const requests: string[] = [];
  let key: {
    readonly id: string;
    readonly alg: string;
    readonly secret: CryptoKey;
  };
  let jwks: readonly object[] = [];
  let count = 0;
  async function makeKey(alg: string): Promise<object> {
    const pair = await generateKeyPair(alg, { extractable: true });
    count += 1;
    key = { id: `key-${count}`, alg, secret: pair.privateKey };
    return { ...(await exportJWK(pair.publicKey)), kid: key.id, use: "sig", alg };
  }
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const { fault } = issuer;
    response.writeHead(fault?.status ?? 200, { "content-type": "application/json" });
    response.end(
      fault?.body ??
        JSON.stringify(
          request.url === "/.well-known/openid-configuration"
            ? { issuer: issuer.called, jwks_uri: `${issuer.url}/keys` }
            : { keys: [{ kty: "oct", k: "c2VjcmV0", kid: "shared" }, ...jwks] },
        ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: Issuer = {
    url,
    requests,
    fault: undefined,
    called: url,
    async rotate(alg = "RS256") {
      jwks = [await makeKey(alg)];
    },
    async add() {
      jwks = [...jwks, await makeKey("RS256")];
    },
    key: () => key.secret,
    async token(claims = {}, options = {}) {
      const seconds = Math.floor(now() / 1_000);
      count += 1;
      const all = {
        iss: url,
        aud: AUDIENCE,
        sub: "repo:my-org/web:ref:refs/heads/main",
        jti: `job-${count}`,
        iat: seconds,
        nbf: seconds - 5,
        exp: seconds + 300,
        repository: "my-org/web",
        repository_id: "11",
        ref: "refs/heads/main",
        ...claims,
      };
      const present = Object.fromEntries(
        Object.entries(all).filter(([, value]) => value !== undefined),
      );
      return await new SignJWT(present)
        .setProtectedHeader({
          alg: options.alg ?? key.alg,
          typ: "JWT",
          ...("kid" in options ? {} : { kid: key.id }),
        })
        .sign(options.key ?? key.secret);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await issuer.rotate();
  return issuer;
}

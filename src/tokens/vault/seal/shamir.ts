/**
 * Shamir's secret sharing over GF(2^8) with the polynomial 0x11b, byte by byte, in the format of
 * Vault and OpenBao: a share is one value per byte of the secret, then its x coordinate
 * (docs/decisions/tokens-shares.md). Without tables and without branches on secret values.
 */
import { StewardError } from "../../../kernel/base/errors.ts";

const MAX_SHARES = 255;
const MIN_THRESHOLD = 2;

/**
 * `count` shares, any `threshold` of which make the secret. `random` returns that many random
 * bytes. Throws `invalid` for a threshold outside 2…`count`, and for more than 255 shares.
 */
export function splitSecret(
  secret: Uint8Array,
  { count, threshold }: { readonly count: number; readonly threshold: number },
  random: (length: number) => Uint8Array,
): readonly Uint8Array[] {
  if (threshold < MIN_THRESHOLD || threshold > count || count > MAX_SHARES || secret.length === 0)
    throw new StewardError(
      "invalid",
      `no secret can be split into ${count} shares of ${threshold}`,
    );
  const shares = Array.from(coordinates(count, random), (x) => {
    const share = new Uint8Array(secret.length + 1);
    share[secret.length] = x;
    return share;
  });
  secret.forEach((byte, index) => {
    // The constant term is the secret's byte, every other coefficient is random.
    const polynomial = Uint8Array.of(byte, ...random(threshold - 1));
    for (const share of shares)
      share[index] = polynomial.reduceRight(
        (sum, coefficient) => multiply(sum, xOf(share)) ^ coefficient,
        0,
      );
    polynomial.fill(0);
  });
  return shares;
}

/**
 * The secret that these shares make; with shares of another secret, or too few, some other bytes.
 * Throws `invalid` for fewer than two shares, different lengths, or twice the same coordinate.
 */
export function combineShares(shares: readonly Uint8Array[]): Uint8Array {
  const [first] = shares;
  if (first === undefined || shares.length < MIN_THRESHOLD)
    throw unusable("less than two parts cannot be used to reconstruct the secret");
  if (first.length < 2) throw unusable("parts must be at least two bytes");
  if (shares.some(({ length }) => length !== first.length))
    throw unusable("all parts must be the same length");
  const xs = shares.map(xOf);
  if (new Set(xs).size < xs.length) throw unusable("duplicate part detected");
  const secret = new Uint8Array(first.length - 1);
  shares.forEach((share, index) => {
    const weight = weightAtZero(xs, index);
    for (let at = 0; at < secret.length; at += 1)
      secret[at] = (secret[at] ?? 0) ^ multiply(share[at] ?? 0, weight);
  });
  return secret;
}

/** Lagrange's coefficient of one share where the polynomial is evaluated at 0. */
function weightAtZero(xs: readonly number[], index: number): number {
  const own = xs[index] ?? 0;
  return xs.reduce(
    (weight, x, other) =>
      other === index ? weight : multiply(weight, multiply(x, inverse(x ^ own))),
    1,
  );
}

function xOf(share: Uint8Array): number {
  return share[share.length - 1] ?? 0;
}

/** That many different coordinates from 1 to 255, in random order. */
function coordinates(count: number, random: (length: number) => Uint8Array): Set<number> {
  const chosen = new Set<number>();
  // Half of the draws are new even for the last of 128; 255 need about 1,560.
  while (chosen.size < count)
    for (const x of random(count)) if (x !== 0 && chosen.size < count) chosen.add(x);
  return chosen;
}

/** The product in the field, in the same steps for all values. */
function multiply(left: number, right: number): number {
  let product = 0;
  let shifted = left;
  for (let bit = 0; bit < 8; bit += 1) {
    product ^= -((right >> bit) & 1) & shifted;
    shifted = (shifted << 1) ^ (-(shifted >> 7) & 0x11b);
  }
  return product;
}

/** The inverse is the 254th power; 0 has none and gives 0. */
function inverse(value: number): number {
  let power = multiply(value, value);
  let result = power;
  for (let step = 0; step < 6; step += 1) {
    power = multiply(power, power);
    result = multiply(result, power);
  }
  return result;
}

function unusable(why: string): StewardError {
  return new StewardError("invalid", why, { rule: "key shares" });
}

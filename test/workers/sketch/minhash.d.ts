/** The part of `minhash` (npm) that tests use; the package has no types. */
declare module "minhash" {
  /** Independent minima of `numPerm` permutations, the classic sketch. */
  export class Minhash {
    constructor(options: { readonly numPerm: number; readonly seed: number });
    update(element: string): void;
    jaccard(other: Minhash): number;
  }
}

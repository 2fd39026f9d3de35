/** Why a receiver refuses a request. Thrown inside of the receivers and answered by them. */
export class Refusal<Reason extends string = string> extends Error {
  readonly status: number;
  /** Value of the attribute `reason`; undefined is not counted. */
  readonly reason: Reason | undefined;

  constructor(status: number, reason: Reason | undefined, message: string) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.reason = reason;
  }
}

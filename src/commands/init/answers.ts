/** Questions of `steward init`, and how their answers are tried until they hold. */
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import type { Complaint } from "../../kernel/config/findings.ts";

export interface Question {
  /** As in a file of answers, e.g. `headscale.url`. */
  readonly id: string;
  /** For people, without punctuation at its end. */
  readonly text: string;
  /** What an empty answer means; without it one is needed. */
  readonly usual?: string;
  /** The only answers, if there are not many. */
  readonly choices?: readonly string[];
  readonly rule?: (answer: string) => Complaint | undefined;
}

/** Where answers come from: a person, or a file. */
export interface Answers {
  /** The trimmed answer; rejects when there is none. */
  read(question: Question): Promise<string>;
  /** A secret is never shown, and in a file may be the content of another one. */
  readSecret(question: Pick<Question, "id" | "text">): Promise<Secret>;
  /** Called with what is wrong with an answer. Throws it where nobody can give another one. */
  refuse(error: StewardError): void;
  /** Call when all questions were asked. Throws `invalid` for answers that no question needed. */
  finish(): void;
  close(): void;
}

/** Asks until the answer is a choice and keeps the rule. */
export async function ask(answers: Answers, question: Question): Promise<string> {
  return await until(answers, async () => {
    const answer = await answers.read(question);
    const complaint = complaintAbout(answer, question);
    if (complaint !== undefined)
      throw new StewardError("invalid", `${question.id} ${complaint.rule}`, {
        field: question.id,
        ...(complaint.remedy === undefined ? {} : { remedy: complaint.remedy }),
      });
    return answer;
  });
}

/** Does it again while it fails and somebody can give other answers. Rejects when cancelled. */
export async function until<T>(answers: Answers, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      const error = toStewardError(thrown);
      // Our own mistakes, Ctrl-C and what a file lacks are not mended by another answer.
      if (error.code === "internal" || error.code === "cancelled" || error.rule === MISSING)
        throw thrown;
      answers.refuse(error);
    }
  }
}

/** Rule of the error for an answer that is needed and not there. */
export const MISSING = "answer";

function complaintAbout(
  answer: string,
  { choices, rule }: Pick<Question, "choices" | "rule">,
): Complaint | undefined {
  if (choices !== undefined && !choices.includes(answer))
    return { rule: `must be ${choices.join(" or ")}, got ${JSON.stringify(answer.slice(0, 80))}` };
  return rule?.(answer);
}

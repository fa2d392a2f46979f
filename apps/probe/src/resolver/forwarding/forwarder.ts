/** Asks several servers as one: the best first, the next when it is late, the first good answer counts. */
import type { Clock } from "@lanthorn/runtime";
import type { Answer } from "../messages/answer.ts";
import type { Question } from "../messages/question.ts";
import type { Asked, Upstream } from "../upstreams/upstream.ts";

/** Servers of which any may answer. */
export interface Forwarder {
  readonly upstreams: readonly Upstream[];
  /** @returns Null where none answered in time. A refusal (SERVFAIL, REFUSED) where no server did better. */
  ask(question: Question): Promise<Answer | null>;
  close(): void;
}

/** A client asks again after 5 s (resolv.conf(5)). */
const DEADLINE_MS = 4500;
/** The next server is asked when this one takes longer than thrice its usual time, within bounds. */
const PATIENCE = 3;
const LEAST_PATIENCE_MS = 40;
const MOST_PATIENCE_MS = 400;

/** @param upstreams At least one; all are closed with it. */
export function createForwarder(upstreams: readonly Upstream[], clock: Pick<Clock, "after" | "monotonic">): Forwarder {
  return {
    upstreams,
    ask: (question) => race(question, order(upstreams, clock.monotonic()), clock),
    close() {
      for (const upstream of upstreams) upstream.close();
    },
  };
}

/** The fastest first; one that is down and due for a try second, so that nobody waits for it; the others that are down last. */
function order(upstreams: readonly Upstream[], now: number): readonly Upstream[] {
  const up = upstreams.filter(({ isDown }) => !isDown).toSorted((one, other) => one.usualMs - other.usualMs);
  const down = upstreams.filter(({ isDown }) => isDown).toSorted((one, other) => one.retryAt - other.retryAt);
  const due = down.filter(({ retryAt }) => retryAt <= now).slice(0, 1);
  return [...up.slice(0, 1), ...due, ...up.slice(1), ...down.filter((one) => !due.includes(one))];
}

function race(question: Question, order: readonly Upstream[], clock: Pick<Clock, "after" | "monotonic">): Promise<Answer | null> {
  const endsAt = clock.monotonic() + DEADLINE_MS;
  return new Promise((resolve) => {
    let next = 0;
    let open = 0;
    let isOver = false;
    let fallback: Answer | null = null;
    let cancelNext: () => void = () => undefined;
    const end = (answer: Answer | null) => {
      isOver = true;
      cancelNext();
      resolve(answer);
    };
    const take = (asked: Asked) => {
      open -= 1;
      if (isOver) return;
      if (asked.kind === "answer") return end(asked.answer);
      if (asked.kind === "refusal") fallback ??= asked.answer;
      askNext();
    };
    const askNext = () => {
      cancelNext();
      const upstream = order[next];
      const leftMs = endsAt - clock.monotonic();
      if (!upstream || leftMs <= 0) {
        if (open === 0) end(fallback);
        return;
      }
      next += 1;
      open += 1;
      void upstream.ask(question, leftMs).then(take);
      const patienceMs = upstream.isDown ? 0 : Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, upstream.usualMs * PATIENCE));
      if (next < order.length) cancelNext = clock.after(patienceMs, askNext);
    };
    askNext();
  });
}

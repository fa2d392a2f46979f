import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import { ApiError } from "../../../gateway/errors.ts";

/** OWASP's least for argon2id: 19 MiB, two passes, one lane. @see RFC 9106 section 4 for what they mean */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Each takes 19 MiB and a core for some tens of milliseconds; whoever comes to more than these is asked to come again. */
const MAX_AT_ONCE = 16;

/**
 * So many of them run, the others wait: one core is left to the rest of the collector, and of Node's four threads two, so that a flood of
 * failed logins delays neither batches of probes, which are unpacked there, nor answers.
 */
const MAX_RUNNING = Math.max(1, Math.min(2, availableParallelism() - 1));

/** @throws ApiError SERVICE_UNAVAILABLE from both while as much is under way as can be. */
export interface Passwords {
  /** @returns The PHC text of an argon2id hash, salt and cost in it. */
  hash(password: string): Promise<string>;
  /** Takes as long for a wrong password as for the right one; some tens of milliseconds in another thread. */
  matches(passwordHash: string, password: string): Promise<boolean>;
  /** @throws ApiError SERVICE_UNAVAILABLE as the others would. */
  checkRoom(): void;
}

/** Hashes in worker threads: at most two at a time, 16 with those that wait. */
export function createPasswords(): Passwords {
  let inFlight = 0;
  let running = 0;
  const waiting: (() => void)[] = [];
  const checkRoom = () => {
    if (inFlight >= MAX_AT_ONCE) throw new ApiError("SERVICE_UNAVAILABLE", "too many logins at once", { headers: { "retry-after": "1" } });
  };
  const limited = async <T>(work: () => Promise<T>): Promise<T> => {
    checkRoom();
    inFlight += 1;
    // The one before hands its place over, so that nobody who comes later gets it first.
    if (running < MAX_RUNNING) running += 1;
    else await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
    try {
      return await work();
    } finally {
      inFlight -= 1;
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return {
    hash: (password) => limited(() => hash(password, COST)),
    matches: (passwordHash, password) => limited(() => verify(passwordHash, password)),
    checkRoom,
  };
}

import { hash, verify } from "@node-rs/argon2";

/** OWASP's least for argon2id: 19 MiB, two passes, one lane. @see RFC 9106 section 4 for what they mean */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** @returns The PHC text of an argon2id hash, salt and cost in it. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** Takes as long for a wrong password as for the right one; some tens of milliseconds in another thread. */
export function passwordMatches(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}

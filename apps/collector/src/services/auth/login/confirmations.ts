import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Identity } from "../../../gateway/environment.ts";
import { confirmToken, isTokenConfirmed } from "./confirmations-store.ts";

/** Which tokens' bearers have given their password again, for what a stolen token alone must not do. */
export interface Confirmations {
  /** @returns Until when this one token counts as confirmed. */
  confirm(trx: Transaction<Schema>, identity: Pick<Identity, "tokenId" | "tenantId">): Promise<string>;
  /** An API key never is. */
  isConfirmed(identity: Pick<Identity, "tokenId" | "tenantId" | "key">): Promise<boolean>;
}

/** Asks whether the bearer of a token has given the password again within the last `CONFIRMED_SECONDS`. */
export type IsConfirmed = Confirmations["isConfirmed"];

/** Long enough for a command that asks and then acts. */
export const CONFIRMED_SECONDS = 300;

/** Confirmations are rows in the database, so every replica knows them. */
export function createConfirmations(
  { reads, clock }: { readonly reads: Kysely<Schema>; readonly clock: Pick<Clock, "now"> },
): Confirmations {
  return {
    async confirm(trx, identity) {
      const until = toInstant(clock.now() + CONFIRMED_SECONDS * 1000);
      await confirmToken(trx, identity, until);
      return until;
    },
    async isConfirmed({ key, ...token }) {
      if (key !== null) return false;
      // A clock that was set back makes no confirmation last longer than it may.
      return isTokenConfirmed(reads, token, { now: toInstant(clock.now()), latest: toInstant(clock.now() + CONFIRMED_SECONDS * 1000) });
    },
  };
}

import type { StreamTicket } from "@lanthorn/contract";
import type { Identity } from "./environment.ts";

/** Whose a credential is; each answers in words why it does not count. Nothing is remembered: what is ended or changed counts at once. */
export interface Authentication {
  readonly byToken: (token: string) => Promise<Identity | string>;
  readonly byKey: (key: string) => Promise<Identity | string>;
  /** Whoever the ticket was made for, with what that one may do now. It is used up by this. */
  readonly byTicket: (ticket: string) => Promise<Identity | string>;
  /** Someone who was let in earlier, as of now. */
  readonly again: (identity: Identity) => Promise<Identity | string>;
  readonly createTicket: (identity: Identity) => Promise<StreamTicket>;
}

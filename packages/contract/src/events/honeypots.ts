import * as z from "zod";
import { Id } from "../values.ts";

/** Of one message. */
export const MAX_TRIED_CREDENTIALS = 64;

/** Passwords that somebody tried at a decoy, each pair of name and password once. The collector seals them: its log has the names alone. */
export const HoneypotCredentials = z.object({
  incident_id: Id.describe("The probe's id of the incident, as in `honeypot_hit`."),
  decoy: z.string().max(64).describe("The decoy's name."),
  tried: z.array(z.object({
    service: z.string().max(64).describe("The service at which it was tried."), username: z.string().max(255).describe("The user name. Empty for none."),
    password: z.string().max(255).nullable().describe("The password. Null in the log: the collector keeps it sealed."),
    is_bait: z.boolean().describe("It is one of the decoys' bait credentials."),
  })).min(1).max(MAX_TRIED_CREDENTIALS).describe("What was tried, each pair once."),
});
export type HoneypotCredentials = z.infer<typeof HoneypotCredentials>;

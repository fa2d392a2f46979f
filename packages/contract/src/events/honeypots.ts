import * as z from "zod";
import { Id } from "../values.ts";

/** Of one message. */
export const MAX_TRIED_CREDENTIALS = 64;

/** What passwords are sealed for, as `info` of HPKE. @see RFC 9180 section 8.1 */
export const SEALED_PASSWORDS_INFO = "lanthorn passwords tried at decoys";
const Password = z.string().max(255).nullable();
/** What is sealed, as JSON: a password for each of `tried`. */
export const SealedPasswords = z.array(Password).min(1).max(MAX_TRIED_CREDENTIALS);

/** Passwords that somebody tried at a decoy, each pair of name and password once. The collector seals them: its log has the names alone. */
export const HoneypotCredentials = z.object({
  incident_id: Id.describe("The probe's id of the incident, as in `honeypot_hit`."),
  decoy: z.string().max(64).describe("The decoy's name."),
  tried: z.array(z.object({
    service: z.string().max(64).describe("The service at which it was tried."), username: z.string().max(255).describe("The user name. Empty for none."),
    password: Password.describe("The password. Null in the log, where the collector keeps it sealed, and where `passwords_sealed` has it."),
    is_bait: z.boolean().describe("It is one of the decoys' bait credentials."),
  })).min(1).max(MAX_TRIED_CREDENTIALS).describe("What was tried, each pair once."),
  passwords_sealed: z.base64().max(131_072).optional().describe(
    "Their passwords, sealed for the collector's `password_key` by HPKE (RFC 9180), with the incident's id as `aad`; in Base64. Older probes send passwords as they are. Left out in the log.",
  ),
});
export type HoneypotCredentials = z.infer<typeof HoneypotCredentials>;

/** Of one transcript. */
export const MAX_TRANSCRIPT_CHARACTERS = 65_536;
/** What a client is known by: HASSH of its SSH, JA4 of its TLS, or what it says of itself. */
export const HONEYPOT_FINGERPRINTS = ["hassh", "ja4", "software"] as const;

/** Whether a file was sent to a decoy, or is one of the decoy's own that was read. */
export const HONEYPOT_FILE_DIRECTIONS = ["sent", "read"] as const;

/** What is kept of a session at a decoy. The collector keeps transcripts: its log has none. */
export const HoneypotEvidence = z.object({
  evidence_id: Id.describe("The same however often it is reported."),
  incident_id: Id.describe("The probe's id of the incident, as in `honeypot_hit`."),
  decoy: z.string().max(64).describe("The decoy's name."),
  service: z.string().max(64).describe("The service."),
  transcript: z.string().max(MAX_TRANSCRIPT_CHARACTERS).nullable().describe("What was done in a shell, as asciicast of version 2. Null where there was none, and in the log."),
  files: z.array(z.object({
    name: z.string().max(255).describe("As it was sent."), sha256: z.string().regex(/^[0-9a-f]{64}$/).describe("Its SHA-256, by which it lies in the decoy's folder."),
    octets: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe("Its length."), is_kept: z.boolean().describe("It is kept on the decoy's machine: beyond its quota only the hash is known."),
    direction: z.enum(HONEYPOT_FILE_DIRECTIONS).optional().describe("`sent`: to the decoy. `read`: one of the decoy's own documents. Older probes leave it out: `sent`."),
  })).max(16).describe("Files that were sent, and documents of the decoy that were read."),
  fingerprints: z.array(z.object({
    kind: z.enum(HONEYPOT_FINGERPRINTS).describe("`hassh`, `ja4` or `software`."), value: z.string().max(255).describe("The fingerprint."),
  })).max(8).describe("Which programs the clients are."),
});
export type HoneypotEvidence = z.infer<typeof HoneypotEvidence>;

import * as z from "zod";
import { HONEYPOT_FILE_DIRECTIONS, HONEYPOT_FINGERPRINTS } from "../events/honeypots.ts";
import { HONEYPOT_STAGES } from "../events/security.ts";
import { ExemptHours, MAX_EXEMPT_ADDRESSES, MAX_EXEMPT_PORTS, OwnAddressReport } from "../uplink/decoys.ts";
import { Id, Instant, IpNetwork, Port, Severity } from "../values.ts";
import { BooleanQuery, IdPageQuery, PeriodQuery } from "./envelopes.ts";

const Stage = z.enum(HONEYPOT_STAGES);
const Site = z.object({ site_id: Id.optional().describe("Only this site.") });

/** How a decoy is. */
export const HONEYPOT_STATES = ["serving", "partly", "failed", "stopped", "silent"] as const;

/** A decoy, as the probe beside it last reported it. */
export const Honeypot = z.object({
  id: Id.describe("The decoy's id: that of its name at its probe."),
  site_id: Id.describe("The site."),
  probe_id: Id.describe("The probe beside it."),
  name: z.string().describe("By which it is reported."),
  persona: z.string().describe("What it claims to be, as `nas`."),
  hostname: z.string().describe("As its services say it."),
  address: z.string().describe("Its address."),
  state: z.enum(HONEYPOT_STATES).describe(
    "`serving`: all its services. `partly`: some could not be served. `failed`: none could. `stopped`: its process does not run. `silent`: the probe is not heard.",
  ),
  services: z.array(z.object({
    service: z.string().describe("The service, as `ssh`."), port: Port.describe("Its port."),
    problem: z.string().nullable().describe("Why it is not served. Null where it is."),
  })).describe("Its services."),
  own_address: OwnAddressReport.nullable().describe("How its address is, where it takes one for itself, with a MAC address of its own. Null for an address of the probe's machine."),
  reported_at: Instant.nullable().describe("When the probe reported it. Null while unknown."),
  test: z.object({
    asked_at: Instant.describe("When it was asked for."), asked_by: z.string().describe("Name of the user who asked."),
    status: z.enum(["sent", "done", "failed", "no_answer"]).describe(
      "`sent`: the probe has not answered yet. `done`: the decoy has reported it. `failed`: see `error`. `no_answer`: the probe did not answer within 30 seconds.",
    ),
    error: z.string().nullable().describe("Why it failed. Null where it did not."),
    session_id: Id.nullable().describe("The session that the decoy reported. Null where none is known."),
  }).nullable().describe("Its last test. Null for none."),
});
export type Honeypot = z.infer<typeof Honeypot>;

/** By site, probe and name. */
export const HoneypotsQuery = IdPageQuery.extend(Site.shape);
export type HoneypotsQuery = z.infer<typeof HoneypotsQuery>;

/** What a decoy of a site might be, by what the inventory has most of. */
export const HoneypotProposal = z.object({
  id: Id.describe("The proposal's id: that of the persona at its site."),
  site_id: Id.describe("The site."),
  persona: z.string().describe("What the decoy would claim to be, as `nas`."),
  name: z.string().describe("A name as those of such devices there."),
  devices: z.int().describe("How many such devices the site has."),
  address: z.string().nullable().describe("A free address of their planned network, with its length, as `192.0.2.50/24`. Null where no such network is planned, or none of it is free."),
  mac_block: z.string().nullable().describe("The block of MAC addresses that most of them have, as `00:11:32`. Null where that is no maker's."),
  reason: z.string().describe("Why, in a sentence."),
  configuration: z.string().describe("Lines for `decoy.toml` of a machine at the site. The interface, and an address that is null, are to be filled in."),
});
export type HoneypotProposal = z.infer<typeof HoneypotProposal>;

/** By site, that of which there are most devices first. */
export const HoneypotProposalsQuery = IdPageQuery.extend(Site.shape);
export type HoneypotProposalsQuery = z.infer<typeof HoneypotProposalsQuery>;

/** What one source did with one decoy, until it was silent for an hour. */
export const HoneypotSession = z.object({
  id: Id.describe("The session's id."),
  site_id: Id.describe("The site."),
  probe_id: Id.describe("The probe that reported it."),
  decoy: z.string().describe("The decoy's name."),
  device_id: Id.nullable().describe("The device that had the source's address. Null where none is known."),
  source_ip: z.string().describe("Who it was."),
  source_mac: z.string().describe("The MAC address. Empty behind a router."),
  destination_ip: z.string().describe("The decoy's address. Empty while unknown."),
  stage: Stage.describe("How far it went: `touch`, `banner`, `credential`, `command`, `file`, `bait_credential`. Or `name_poisoning`: it answered for a name that no host has."),
  severity: Severity.describe("How grave that is."),
  services: z.array(z.string()).describe("The decoy's services that were used."),
  usernames: z.array(z.string()).describe("Some of the user names that were tried, at most 16."),
  connections: z.int().describe("Connections since it began."),
  credentials: z.int().describe("Credentials that were tried since it began."),
  mitre_techniques: z.array(z.string()).describe("MITRE ATT&CK techniques, as `T1110.001`."),
  detail: z.string().describe("What was done, in a sentence."),
  is_test: z.boolean().describe("It was a test by the probe, and raised no alert."),
  started_at: Instant.describe("When it began."),
  last_at: Instant.describe("When something was last reported of it."),
});
export type HoneypotSession = z.infer<typeof HoneypotSession>;

/** A session with its evidence. */
export const HoneypotSessionDetail = HoneypotSession.extend({
  clients: z.array(z.object({
    kind: z.enum(HONEYPOT_FINGERPRINTS).describe("`hassh` of SSH, `ja4` of TLS, or `software`: what it says of itself."), value: z.string().describe("The fingerprint."),
    service: z.string().describe("The service at which it was seen."),
  })).describe("Which programs the clients are, as far as is known."),
  rungs: z.array(z.object({
    stage: Stage.describe("How far it went by this report."),
    at: Instant.describe("When it was reported."),
    event_id: Id.describe("The `honeypot_hit` in the event log."),
    service: z.string().describe("The service."),
    source_port: Port.describe("The port that it came from."),
    destination_port: Port.describe("The decoy's port."),
    username: z.string().describe("The user name that was tried. Empty for none."),
    detail: z.string().describe("What was done until then."),
  })).describe("Each rise, the first one first."),
});
export type HoneypotSessionDetail = z.infer<typeof HoneypotSessionDetail>;

const OfEvidence = z.object({ id: Id.describe("Its id."), service: z.string().describe("The service, as `ssh`."), recorded_at: Instant.describe("When it was reported.") });

/** What was done in a shell of a decoy. */
export const HoneypotTranscript = OfEvidence.extend({ asciicast: z.string().describe("Asciicast of version 2: lines of JSON. What is in it comes from an intruder.") });
export type HoneypotTranscript = z.infer<typeof HoneypotTranscript>;

/** Some of a session's, the oldest first. */
export const HoneypotTranscripts = z.object({
  transcripts: z.array(HoneypotTranscript).describe("The oldest first."),
  next_cursor: Id.nullable().describe("Send it as `cursor` to get those that an answer had no room for. Null where there are no more."),
});
export type HoneypotTranscripts = z.infer<typeof HoneypotTranscripts>;

/** From where a session's transcripts are read on. */
export const HoneypotTranscriptsQuery = z.object({ cursor: Id.optional().describe("`next_cursor` of the answer before.") });
export type HoneypotTranscriptsQuery = z.infer<typeof HoneypotTranscriptsQuery>;

/** A file that was sent to a decoy, or a document of the decoy that was read. */
export const HoneypotFile = OfEvidence.extend({
  name: z.string().describe("As it was sent, or as the decoy has it."), sha256: z.string().describe("Its SHA-256 in hexadecimal."), octets: z.int().describe("Its length."),
  direction: z.enum(HONEYPOT_FILE_DIRECTIONS).describe("`sent`: to the decoy. `read`: one of the decoy's own documents, by whose hash a copy elsewhere is known."),
  is_kept: z.boolean().describe("It is kept on the decoy's machine. Beyond the quota only its hash is known."),
});
export type HoneypotFile = z.infer<typeof HoneypotFile>;

/** The newest first. */
export const HoneypotSessionsQuery = IdPageQuery.extend(PeriodQuery.shape).extend(Site.shape).extend({
  decoy: z.string().min(1).max(64).optional().describe("Only this decoy, by its name."),
  source_ip: z.union([z.ipv4(), z.ipv6()]).optional().describe("Only this source."),
  device_id: Id.optional().describe("Only this device as the source."),
  stage: Stage.optional().describe("Only those that went as far as this, and no further."),
  is_test: BooleanQuery.optional().describe("Only tests, or only what is none."),
});
export type HoneypotSessionsQuery = z.infer<typeof HoneypotSessionsQuery>;

/** Who may touch a site's decoys. */
export const HoneypotExemption = z.object({
  id: Id.describe("The exemption's id."),
  site_id: Id.describe("The site."),
  name: z.string().describe("By which its connections are counted."),
  addresses: z.array(z.string()).describe("Addresses and networks."),
  ports: z.array(Port).describe("Ports of decoys that it may use. None: all."),
  hours: z.string().nullable().describe("Hours of the day as `22:00-04:30`, in the time zone of the probe's machine. Null for always."),
  reason: z.string().describe("Why it is right."),
  created_by: z.string().describe("Name of the user who added it."),
  created_at: Instant.describe("When it was added."),
  expires_at: Instant.nullable().describe("When it ends. Null for one without an end."),
});
export type HoneypotExemption = z.infer<typeof HoneypotExemption>;

/** What somebody may touch decoys by. */
export const HoneypotExemptionCreate = z.strictObject({
  site_id: Id.describe("The site."),
  name: z.string().trim().min(1).max(64).describe("By which its connections are counted, as `vulnerability scanner`."),
  addresses: z.array(IpNetwork).min(1).max(MAX_EXEMPT_ADDRESSES).describe("Addresses and networks from which decoys may be touched."),
  ports: z.array(z.int().min(1).max(65_535)).max(MAX_EXEMPT_PORTS).default([]).describe("Ports of decoys that it may use. All if left out."),
  hours: ExemptHours.optional().describe("Hours of the day as `22:00-04:30`, in the time zone of the probe's machine. Always if left out."),
  reason: z.string().trim().min(1).max(255).describe("Why it is right, for later readers."),
  expires_at: Instant.optional().describe("When it ends. It has no end if left out."),
});
export type HoneypotExemptionCreate = z.infer<typeof HoneypotExemptionCreate>;

/** The oldest first. */
export const HoneypotExemptionsQuery = IdPageQuery.extend(Site.shape);
export type HoneypotExemptionsQuery = z.infer<typeof HoneypotExemptionsQuery>;

/** A credential that was tried, without its password. */
export const HoneypotCredential = z.object({
  id: Id.describe("The credential's id."),
  site_id: Id.describe("The site."),
  session_id: Id.nullable().describe("The session in which it was tried. Null where it is not kept any more."),
  decoy: z.string().describe("The decoy's name."),
  service: z.string().describe("The service at which it was tried."),
  username: z.string().describe("The user name. Empty for none."),
  is_bait: z.boolean().describe("It is one of the decoys' bait credentials."),
  tried_at: Instant.describe("When it was reported."),
});
export type HoneypotCredential = z.infer<typeof HoneypotCredential>;

/** With the password. */
export const HoneypotCredentialRevealed = HoneypotCredential.extend({ password: z.string().describe("The password that was tried.") });
export type HoneypotCredentialRevealed = z.infer<typeof HoneypotCredentialRevealed>;

/** The newest first. */
export const HoneypotCredentialsQuery = IdPageQuery.extend(Site.shape).extend({
  session_id: Id.optional().describe("Only of this session."),
  username: z.string().max(255).optional().describe("Only this user name."),
  is_bait: BooleanQuery.optional().describe("Only bait, or only what is none."),
});
export type HoneypotCredentialsQuery = z.infer<typeof HoneypotCredentialsQuery>;

import * as z from "zod";
import { CREDENTIAL_PARTS, CREDENTIAL_TYPES } from "../uplink/credentials.ts";
import { Id, Instant, IpNetwork } from "../values.ts";

const Name = z.string().trim().min(1).max(255);
const Ids = z.array(Id).max(1000);
const given = {
  name: Name,
  /**
   * Hosts that it is for, as addresses or networks. Where it is empty: SSH logs in to every host; SNMP, of any version, asks only the
   * hosts that a probe's own file names (`snmp.devices`), and nobody else who answers.
   */
  networks: z.array(IpNetwork).max(64).default([]),
  /** Whose probes get it. */
  site_ids: Ids.default([]),
  /** Probes that get it beside those. */
  probe_ids: Ids.default([]),
};
const { snmp, snmpv3, ssh } = CREDENTIAL_PARTS;

export const CredentialCreate = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("snmp"), ...given, settings: snmp.settings.prefault({}), secret: snmp.secret }),
  z.strictObject({ type: z.literal("snmpv3"), ...given, settings: snmpv3.settings, secret: snmpv3.secret.default({}) }),
  z.strictObject({ type: z.literal("ssh"), ...given, settings: ssh.settings, secret: ssh.secret }),
]);
export type CredentialCreate = z.infer<typeof CredentialCreate>;

/** Fields left out stay; the type stays always. `settings` and `secret` replace what was there, and are those of the type. */
export const CredentialUpdate = z.strictObject({
  name: Name.optional(), networks: given.networks.unwrap().optional(), site_ids: Ids.optional(), probe_ids: Ids.optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  secret: z.record(z.string(), z.unknown()).optional(),
});
export type CredentialUpdate = z.infer<typeof CredentialUpdate>;

/** What a probe logs in to devices with, without its secret. */
export const Credential = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(CREDENTIAL_TYPES),
  settings: z.record(z.string(), z.unknown()),
  /** Names of the parts that its secret has. */
  parts: z.array(z.string()),
  networks: z.array(z.string()),
  site_ids: z.array(Id),
  probe_ids: z.array(Id),
  created_at: Instant,
  updated_at: Instant,
});
export type Credential = z.infer<typeof Credential>;

/** The same with its secret. */
export const CredentialRevealed = Credential.extend({ secret: z.record(z.string(), z.string()) });
export type CredentialRevealed = z.infer<typeof CredentialRevealed>;

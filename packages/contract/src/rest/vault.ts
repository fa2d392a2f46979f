import * as z from "zod";
import { CREDENTIAL_PARTS, CREDENTIAL_TYPES } from "../uplink/credentials.ts";
import { Id, Instant, IpNetwork } from "../values.ts";

const Name = z.string().trim().min(1).max(255);
const Ids = z.array(Id).max(1000);
const HOSTS = "Hosts that it is for, as addresses or networks. Empty: SSH logs in to every host, and SNMP of any version polls only the "
  + "hosts that a probe's own file lists (`snmp.devices`).";
const given = {
  name: Name.describe("The credential's name."),
  networks: z.array(IpNetwork).max(64).default([]).describe(HOSTS),
  site_ids: Ids.default([]).describe("Sites whose probes get it."),
  probe_ids: Ids.default([]).describe("Probes that get it in addition to those of the sites."),
};
const WHICH = "The credential's type. It cannot be changed later.";
const SETTINGS = "Its public settings: user name, port, protocols.";
const SECRET = "Its secret parts. They are encrypted at rest and shown only by `reveal`.";
const { snmp, snmpv3, ssh } = CREDENTIAL_PARTS;

/** A credential to be stored. `settings` and `secret` have the shape of its type, see `CREDENTIAL_PARTS`. */
export const CredentialCreate = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("snmp").describe(WHICH), ...given,
    settings: snmp.settings.prefault({}).describe(SETTINGS), secret: snmp.secret.describe(SECRET),
  }),
  z.strictObject({
    type: z.literal("snmpv3").describe(WHICH), ...given,
    settings: snmpv3.settings.describe(SETTINGS), secret: snmpv3.secret.default({}).describe(SECRET),
  }),
  z.strictObject({
    type: z.literal("ssh").describe(WHICH), ...given, settings: ssh.settings.describe(SETTINGS), secret: ssh.secret.describe(SECRET),
  }),
]);
export type CredentialCreate = z.infer<typeof CredentialCreate>;

/** Fields left out stay; the type stays always. `settings` and `secret` replace what was there, and are those of the type. */
export const CredentialUpdate = z.strictObject({
  name: Name.optional().describe("The credential's name."),
  networks: given.networks.unwrap().optional().describe(HOSTS),
  site_ids: Ids.optional().describe("Sites whose probes get it."),
  probe_ids: Ids.optional().describe("Probes that get it in addition to those of the sites."),
  settings: z.record(z.string(), z.unknown()).optional().describe("New settings of its type, in place of all that it has."),
  secret: z.record(z.string(), z.unknown()).optional().describe("A new secret of its type, in place of all that it has."),
});
export type CredentialUpdate = z.infer<typeof CredentialUpdate>;

/** What a probe uses to log in to devices, without its secret. */
export const Credential = z.object({
  id: Id.describe("The credential's id."),
  name: z.string().describe("The credential's name."),
  type: z.enum(CREDENTIAL_TYPES).describe("The credential's type."),
  settings: z.record(z.string(), z.unknown()).describe(SETTINGS),
  parts: z.array(z.string()).describe("Names of the parts that its secret has, as `community` or `private_key`."),
  networks: z.array(z.string()).describe(HOSTS),
  site_ids: z.array(Id).describe("Sites whose probes get it."),
  probe_ids: z.array(Id).describe("Probes that get it in addition to those of the sites."),
  created_at: Instant.describe("When it was created."),
  updated_at: Instant.describe("When it was last changed."),
});
export type Credential = z.infer<typeof Credential>;

/** The same with its secret. */
export const CredentialRevealed = Credential.extend({
  secret: z.record(z.string(), z.string()).describe("The secret by the names of its parts."),
});
export type CredentialRevealed = z.infer<typeof CredentialRevealed>;

import * as z from "zod";
import { Id, IpNetwork } from "../values.ts";

const Port = z.int().min(1).max(65_535);
/** A community, a name, a password: printable, so that it can be typed into a device. */
const Text = z.string().regex(/^[\x20-\x7e]+$/, "must be printable ASCII characters");
/** RFC 3414 section 11.2 asks for eight characters or more. */
const SnmpPassword = Text.min(8).max(255);

/** HMAC hashes of SNMPv3. @see RFC 3414 section 6 (MD5, SHA-1), RFC 7860 (the others) */
export const SNMP_AUTH_PROTOCOLS = ["md5", "sha", "sha224", "sha256", "sha384", "sha512"] as const;
/** Ciphers of SNMPv3; `aes` has a key of 128 bits. @see RFC 3414 section 8 (DES), RFC 3826 (AES) */
export const SNMP_PRIVACY_PROTOCOLS = ["des", "aes", "aes256"] as const;

/** What of each type of credential is no secret, and what is. */
export const CREDENTIAL_PARTS = {
  snmp: {
    settings: z.strictObject({ version: z.enum(["1", "2c"]).default("2c"), port: Port.default(161) }),
    secret: z.strictObject({ community: Text.max(255) }),
  },
  snmpv3: {
    settings: z.strictObject({
      username: Text.max(32),
      context: z.string().max(255).default(""),
      /** Null for no authentication, which leaves no privacy either. */
      auth_protocol: z.enum(SNMP_AUTH_PROTOCOLS).nullable().default("sha256"),
      privacy_protocol: z.enum(SNMP_PRIVACY_PROTOCOLS).nullable().default("aes"),
      port: Port.default(161),
    }),
    secret: z.strictObject({ auth_password: SnmpPassword.optional(), privacy_password: SnmpPassword.optional() }),
  },
  ssh: {
    settings: z.strictObject({ username: Text.max(255), port: Port.default(22) }),
    secret: z.strictObject({
      password: z.string().min(1).max(255).optional(),
      /** OpenSSH's own format or PEM. */
      private_key: z.string().min(1).max(8192).optional(),
      passphrase: z.string().min(1).max(255).optional(),
    }),
  },
} as const;
/** A key of `CREDENTIAL_PARTS`. */
export type CredentialType = keyof typeof CREDENTIAL_PARTS;
type Parts<T extends CredentialType> = (typeof CREDENTIAL_PARTS)[T];
/** Every credential type, in the order of `CREDENTIAL_PARTS`. */
export const CREDENTIAL_TYPES = Object.keys(CREDENTIAL_PARTS) as readonly CredentialType[];

/** What a probe can be handed at most. */
export const CREDENTIALS_MAX = 64;

const Head = { id: Id, name: z.string(), /** Hosts that it is for. Empty: every host for SSH, hosts that the probe's own file names for SNMP. */ networks: z.array(IpNetwork).max(64) };
const delivered = <T extends CredentialType>(type: T) => {
  const { settings, secret }: { readonly settings: Parts<T>["settings"]; readonly secret: Parts<T>["secret"] } = CREDENTIAL_PARTS[type];
  return z.object({ ...Head, type: z.literal(type), settings, secret });
};

/** A credential as a probe has it, its secret open. */
export const ProbeCredential = z.discriminatedUnion("type", [delivered("snmp"), delivered("snmpv3"), delivered("ssh")]);
export type ProbeCredential = z.infer<typeof ProbeCredential>;

/**
 * What is sealed in a configuration's `credentials`: a JWE (general JSON) to the keys of one probe. It names the probe, so that
 * it opens for no other's.
 */
export const DeliveredCredentials = z.object({ probe_id: Id, credentials: z.array(ProbeCredential).max(CREDENTIALS_MAX) });
export type DeliveredCredentials = z.infer<typeof DeliveredCredentials>;

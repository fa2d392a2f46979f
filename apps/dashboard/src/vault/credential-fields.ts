import { CredentialCreate, type CredentialType, SNMP_AUTH_PROTOCOLS, SNMP_PRIVACY_PROTOCOLS } from "@lanthorn/contract";

/** A field of a credential's form. `secret` ones are typed unseen. */
export interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly of: "settings" | "secret";
  readonly kind: "text" | "password" | "key" | readonly string[];
  readonly isRequired?: boolean;
}

const USERNAME: CredentialField = { name: "username", label: "User name", of: "settings", kind: "text", isRequired: true };

/** What each type of credential has, in the order of its form. */
export const CREDENTIAL_FIELDS: Readonly<Record<CredentialType, readonly CredentialField[]>> = {
  snmp: [
    { name: "community", label: "Community", of: "secret", kind: "password", isRequired: true },
    { name: "version", label: "Version", of: "settings", kind: ["2c", "1"] },
  ],
  snmpv3: [
    USERNAME,
    { name: "auth_protocol", label: "Authentication", of: "settings", kind: [...SNMP_AUTH_PROTOCOLS].toReversed() },
    { name: "auth_password", label: "Authentication password", of: "secret", kind: "password" },
    { name: "privacy_protocol", label: "Encryption", of: "settings", kind: [...SNMP_PRIVACY_PROTOCOLS].toReversed() },
    { name: "privacy_password", label: "Encryption password", of: "secret", kind: "password" },
  ],
  ssh: [
    USERNAME,
    { name: "password", label: "Password", of: "secret", kind: "password" },
    { name: "private_key", label: "Private key", of: "secret", kind: "key" },
    { name: "passphrase", label: "Passphrase of the key", of: "secret", kind: "password" },
  ],
};

/**
 * Makes a credential of what is in the form; empty fields are left out.
 * @throws ZodError where the contract does not take it.
 */
export function credentialOf(type: CredentialType, fields: Readonly<Record<string, string>>, siteIds: readonly string[]): CredentialCreate {
  const part = (of: CredentialField["of"]) => Object.fromEntries(
    CREDENTIAL_FIELDS[type].filter((field) => field.of === of && (fields[field.name] ?? "") !== "").map(({ name }) => [name, fields[name]]),
  );
  const networks = (fields["networks"] ?? "").split(/[\s,]+/).filter((text) => text !== "");
  return CredentialCreate.parse({ type, name: fields["name"] ?? "", networks, site_ids: siteIds, settings: part("settings"), secret: part("secret") });
}

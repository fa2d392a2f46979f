import type { Schema } from "../db/schema.ts";

interface SealedColumn {
  readonly table: keyof Schema;
  readonly column: string;
  /** The text that binds what is sealed to its row. @param id Of the row. */
  readonly owner: (id: string) => string;
}

/** Owner text of a webhook's secrets, current and previous. A change of it makes every stored secret unreadable. */
export const ownerOfWebhook = (id: string) => `webhook ${id}`;
/** Owner text of a credential's secret in the vault. */
export const ownerOfCredential = (id: string) => `credential ${id}`;
/** Owner text of a secret that replicas share. @param id Its name, as `token-secret`. */
export const ownerOfKeptSecret = (id: string) => `secret ${id}`;
/** Owner text of a stored version of a device's configuration. */
export const ownerOfConfiguration = (id: string) => `configuration ${id}`;
/** Owner text of the key that a capture's content is encrypted with. */
export const ownerOfCapture = (id: string) => `capture ${id}`;

/** Owner text of the key that a block list's zone is transferred with. */
export const ownerOfDnsList = (id: string) => `dns list ${id}`;
/** Owner text of a password that was tried at a decoy. */
export const ownerOfHoneypotCredential = (id: string) => `honeypot credential ${id}`;

/** Everything in the database that the sealing key seals: what is not here is lost when the key is changed. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "webhooks", column: "secret_sealed", owner: ownerOfWebhook },
  { table: "webhooks", column: "previous_secret_sealed", owner: ownerOfWebhook },
  { table: "credentials", column: "secret_sealed", owner: ownerOfCredential },
  { table: "config_versions", column: "content_sealed", owner: ownerOfConfiguration },
  { table: "pcaps", column: "key_sealed", owner: ownerOfCapture },
  { table: "dns_lists", column: "tsig_sealed", owner: ownerOfDnsList },
  { table: "honeypot_credentials", column: "password_sealed", owner: ownerOfHoneypotCredential },
  { table: "kept_secrets", column: "content_sealed", owner: ownerOfKeptSecret },
];

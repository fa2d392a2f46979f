import { randomBytes } from "node:crypto";
import { ownerOfWebhook } from "../sealing/sealed-columns.ts";
import type { Sealing } from "../sealing/sealing.ts";
import type { SigningSecrets } from "./sending/signatures.ts";
import type { WebhookRow } from "./store.ts";

/** A new secret in the spelling of Standard Webhooks: 256 bits. */
export function createSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** A secret as it is kept: sealed for its webhook, and its last characters, a quarter of it at most. */
export function sealSecret(
  sealing: Sealing,
  webhookId: string,
  secret: string,
): { readonly secret_sealed: string; readonly secret_hint: string } {
  return {
    secret_sealed: sealing.seal(secret, ownerOfWebhook(webhookId)),
    secret_hint: `…${secret.slice(-Math.min(4, Math.floor(secret.length / 4)))}`,
  };
}

/** @param now The instant at which they are to sign. @throws CollectorError `secret-unreadable`. */
export function secretsOf(
  sealing: Sealing,
  { id, secret_sealed: sealed, previous_secret_sealed: previous, previous_secret_until: until }: Pick<WebhookRow,
  "id" | "secret_sealed" | "previous_secret_sealed" | "previous_secret_until">,
  now: string,
): SigningSecrets {
  const signs = previous !== null && until !== null && now < until;
  return { secret: sealing.open(sealed, ownerOfWebhook(id)), previous: signs ? sealing.open(previous, ownerOfWebhook(id)) : null };
}

import { createHmac } from "node:crypto";

/** A webhook's secrets: the one in use, and while it is rotated the one before. */
export interface SigningSecrets {
  readonly secret: string;
  readonly previous: string | null;
}

/**
 * Headers by which a receiver knows who sent a payload. `X-Service-Signature` is of the secret in use; while secrets rotate,
 * `X-Service-Signature-Previous` is of the one before, and `webhook-signature` holds both.
 * @param message.id The event's id, the same at every attempt.
 * @param message.timestampSeconds When this attempt is made, in seconds since the epoch.
 * @param message.body The exact bytes that are sent.
 * @see https://www.standardwebhooks.com/ "Webhook Headers", "Signature scheme"
 */
export function signatureHeaders(
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: Buffer },
  { secret, previous }: SigningSecrets,
): Readonly<Record<string, string>> {
  const { id, timestampSeconds, body } = message;
  const prefix = `${id}.${timestampSeconds}.`;
  const standard = (key: string) => `v1,${createHmac("sha256", keyBytes(key)).update(prefix).update(body).digest("base64")}`;
  return {
    "x-service-signature": plainSignature(secret, body),
    ...(previous === null ? {} : { "x-service-signature-previous": plainSignature(previous, body) }),
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": previous === null ? standard(secret) : `${standard(secret)} ${standard(previous)}`,
  };
}

function plainSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

const ENCODED = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/;

/** Standard Webhooks writes a key as `whsec_` and Base64; any other text is its own bytes. */
function keyBytes(secret: string): Buffer {
  const encoded = ENCODED.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
}

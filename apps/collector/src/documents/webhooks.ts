import { WEBHOOK_EVENTS, type WebhookEvent } from "@lanthorn/contract";
import { dataOf, MESSAGE_FIELDS } from "./event-data.ts";
import type { OpenApiDocument, Operation, Parameter, Schema } from "./openapi.ts";

/** What each event means, in one line. */
const MEANINGS: Readonly<Record<WebhookEvent, string>> = {
  "alert.created": "A new alert was raised",
  "alert.resolved": "An alert was resolved",
  "scan.started": "A scan started",
  "scan.completed": "A scan finished",
  "scan.failed": "A scan failed",
  "device.discovered": "A new device was found",
  "device.offline": "A device went offline",
  "ids.alert": "An intrusion detection rule matched",
  "honeypot.hit": "A client connected to a decoy",
  "rogue.detected": "An attack on the network began, got worse, goes on, or is over",
  "cve.matched": "A known vulnerability applies to a device",
  "backup.completed": "A backup finished",
  "backup.failed": "A backup failed",
  "anomaly.detected": "A measured value is unusual",
};

const RETRIES = "Sent by POST within 10 seconds; redirects are not followed. Any answer but 2xx is a failure. Retries come 30 seconds, "
  + "2 minutes, 10 minutes and 1 hour after the attempt before, five attempts in all; a later `Retry-After` is honored. The body is the "
  + "same bytes at each attempt. The same event may come twice: compare `id`. A test delivery has `data.test` true.";

const HEADERS: readonly Parameter[] = [
  header("X-Service-Signature", "sha256=5f1d…", "`sha256=` and the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the "
    + "webhook's secret. Compute it over the bytes as received, and compare in constant time."),
  header("X-Service-Signature-Previous", "sha256=91c2…", "The same with the previous secret, for 24 hours after a change.", false),
  header("webhook-id", "01989f2e-7c11-7aa0-b3c4-5d6e7f809102", "The event's id, the same at every attempt."),
  header("webhook-timestamp", "1763653077", "When this attempt was made, in seconds since 1970. Refuse requests that are older than five minutes."),
  header("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=", "`v1,` and the Base64 HMAC-SHA256 of "
    + "`<webhook-id>.<webhook-timestamp>.<raw body>`. After a change of the secret, two signatures with a space between them. A secret that "
    + "begins with `whsec_` is Base64 of the key; any other is the key itself. See standardwebhooks.com."),
];

function header(name: string, example: string, description: string, required = true): Parameter {
  return { name, in: "header", required, description, schema: { type: "string" }, example };
}

/** What is sent to a webhook's URL, one operation of the receiver for each event. @param tag Under which they are shown. */
export function webhooksOf(tag: string): NonNullable<OpenApiDocument["webhooks"]> {
  return Object.fromEntries(WEBHOOK_EVENTS.map((event) => [event, { post: receives(event, tag) }]));
}

function receives(event: WebhookEvent, tag: string): Operation {
  const name = event.split(".").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return {
    operationId: `receive${name}`, summary: MEANINGS[event], description: RETRIES, tags: [tag], security: [], parameters: HEADERS,
    requestBody: { required: true, content: { "application/json": { schema: payloadOf(event) } } },
    responses: {
      "2XX": { description: "The event was received. It is not sent again." },
      "410": { description: "The receiver wants no more events. The webhook is deactivated." },
      default: { description: "The attempt failed. It is repeated, up to five attempts." },
    },
  };
}

function payloadOf(event: WebhookEvent): Schema {
  return {
    type: "object", required: ["id", "event", "timestamp", "tenant_id", "data"],
    properties: {
      ...MESSAGE_FIELDS,
      event: { type: "string", const: event, description: "The event's name." },
      tenant_id: { type: "string", format: "uuid", description: "The tenant that it belongs to." },
      data: { ...dataOf(({ webhook }) => webhook === event), description: "What happened." },
    },
  };
}

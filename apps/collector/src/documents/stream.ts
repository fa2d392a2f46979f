import { STREAM_EVENTS, type StreamEvent } from "@lanthorn/contract";
import { dataOf, MESSAGE_FIELDS } from "./event-data.ts";
import { headersOf } from "./errors.ts";
import type { Operation, Parameter, Schema } from "./openapi.ts";

/** Codes with which the collector closes a stream, beside those of RFC 6455. */
const CLOSE_CODES = [
  [1001, "The collector stops. Connect again and resume with `since`."],
  [1011, "The stream cannot be read now. Connect again and resume with `since`."],
  [1013, "You are more than 1 MiB behind. Connect again and resume with `since`."],
  [4401, "The token or key has expired, was revoked, or has lost the scope `devices:read`. Get a new one first."],
] as const;

const DESCRIPTION = `A WebSocket. The collector sends one JSON text frame for each event, in the order of \`seq\`; a client sends nothing.
Answer its pings, one every 30 seconds.

Send a token as \`token\` or in the \`Authorization\` header, or a ticket of \`POST /api/v1/ws/ticket\` as \`ticket\`. A ticket is good
for one connection within 30 seconds; use it where URLs are logged. What is wrong with a request is refused before the upgrade, with the
same errors as everywhere.

To resume, connect with \`since\` and the last \`seq\` that you have. Where the log no longer reaches that far, the first frame is
\`error\` with \`data.code\` \`gap\`: read the lists again.

Close codes: ${CLOSE_CODES.map(([code, text]) => `${code}: ${text}`).join(" ")}`;

const PARAMETERS: readonly Parameter[] = [
  query("token", { type: "string" }, "An access token of `POST /api/v1/auth/login`."),
  query("ticket", { type: "string" }, "A ticket of `POST /api/v1/ws/ticket`, in place of a token. It is valid for one connection."),
  query("since", { type: "integer", minimum: 0 }, "Send the events after this `seq` first. Left out: only what happens from now on."),
  query("events", { type: "string" }, `Names of events, with commas between them. Left out: all. There are ${STREAM_EVENTS.join(", ")}.`),
  query("site_id", { type: "string", format: "uuid" }, "Events of this site only."),
];

function query(name: string, schema: Schema, description: string): Parameter {
  return { name, in: "query", required: false, description, schema };
}

/** The two ways to authenticate in the stream's URL, as security schemes of the document. @see OpenAPI 3.1.0 section 4.8.27 */
export const STREAM_SECURITY_SCHEMES = {
  streamToken: { type: "apiKey", in: "query", name: "token", description: "An access token in the URL, for `/ws/events` only." },
  streamTicket: { type: "apiKey", in: "query", name: "ticket", description: "A ticket in the URL, for one connection to `/ws/events`." },
} as const;

/** The stream as an operation of the document: its parameters, close codes and a schema for each event's frame. */
export function streamOperation(): Operation {
  return {
    operationId: "openEventStream", summary: "Receive events as they happen", description: DESCRIPTION,
    security: [{ bearer: ["devices:read"] }, { streamToken: [] }, { streamTicket: [] }], parameters: PARAMETERS,
    responses: {
      101: {
        description: "The stream is open. Each frame is as shown.", headers: headersOf(),
        content: { "application/json": { schema: { oneOf: STREAM_EVENTS.map((event) => frameOf(event)) } } },
      },
    },
  };
}

function frameOf(event: StreamEvent): Schema {
  return {
    type: "object", required: ["event", "timestamp", "data", "id", "seq"],
    properties: {
      ...MESSAGE_FIELDS,
      event: { type: "string", const: event, description: "The event's name." },
      seq: { type: "integer", minimum: 0, description: "Its position in the tenant's log. Send the last one as `since` to resume." },
      data: { ...dataOf(({ stream }) => stream === event), description: "What happened." },
    },
  };
}

import * as z from "zod";
import { Host, splitAtCommas } from "../../configuration-values.ts";
import { isAllowEntry } from "../../deliveries/sending/target-policy.ts";

const Receivers = z.preprocess(splitAtCommas, z.array(z.string().max(255).refine(isAllowEntry, {
  error: "a host's name, an address, or a prefix as 10.0.0.0/8; this machine and its link only by single addresses",
})).max(256));

/** `[webhooks]`: Where webhooks may go, and what is kept of deliveries. */
export const WebhookSettings = z.strictObject({
  /** Receivers beside https at public addresses: names, addresses, prefixes. See the README. */
  allow: Receivers.default([]),
  /** Certificate authorities of receivers, in PEM, beside the usual ones. */
  ca_file: z.string().min(1).optional(),
  keep_days: z.number().min(0.01).max(3650).default(14),
  /** Deliveries of one webhook, done or waiting. */
  keep_deliveries: z.int().min(100).max(10_000_000).default(100_000),
}).prefault({});
export type WebhookSettings = z.infer<typeof WebhookSettings>;

/** `[smtp]`: Where e-mails to account owners go; without it there are none. */
export const SmtpSettings = z.strictObject({
  host: Host,
  port: z.int().min(1).max(65_535).default(587),
  security: z.enum(["tls", "starttls", "none"]).default("starttls"),
  username: z.string().min(1).max(255).optional(),
  password: z.string().max(1024).optional(),
  from: z.string().min(3).max(255),
});
export type SmtpSettings = z.infer<typeof SmtpSettings>;

/** What the resolver and the daemon say to each other, as JSON over a socket in the folder that they share. */
import { DnsQueries, MAX_DNS_QUERY_ROWS, ResolverState, Severity } from "@lanthorn/contract/uplink";
import * as z from "zod";

/** The socket's name in the folder where the daemon leaves block lists: who may enter that may connect. */
export const LINK_SOCKET = "link";
/** Of one threat. */
export const MAX_SAMPLES = 8;
/** Of one threat. */
export const MAX_LISTS = 16;

const Count = z.int().min(0);
const Milliseconds = z.number().min(0).max(8_640_000_000_000_000);

/** A client asked for names that a list of what does harm has. */
export const ListedThreat = z.object({
  client_ip: z.string().max(45),
  /** How often since it was last taken. What follows is of the last time. */
  times: z.int().min(1).max(1_000_000_000),
  at: Milliseconds,
  list: z.string().max(128), category: z.string().max(64), severity: Severity,
  action: z.enum(["blocked", "reported"]),
  name: z.string().max(1024), type: z.int().min(0).max(65_535),
  /** Some of the names. */
  samples: z.array(z.string().max(1024)).max(MAX_SAMPLES),
  /** All that have the name. */
  lists: z.array(z.string().max(128)).max(MAX_LISTS),
  policy: z.string().max(128),
  /** The record of the answer that is listed; null for the name itself. */
  blocked_record: z.string().max(1024).nullable(),
  listed_at: Milliseconds.nullable(),
});
export type ListedThreat = z.infer<typeof ListedThreat>;

/** Rows of one message. */
export const MAX_QUERY_ROWS = MAX_DNS_QUERY_ROWS;

/** What was asked since the last such message, as the event has it, with numbers for types and milliseconds since the epoch for instants. */
export const ReportedQueries = DnsQueries.extend({
  from: Milliseconds, to: Milliseconds, rows: z.array(DnsQueries.shape.rows.element.extend({ type: z.int().min(0).max(65_535), last_at: Milliseconds })).max(MAX_QUERY_ROWS),
});
export type ReportedQueries = z.infer<typeof ReportedQueries>;

/** Threats and queries have numbers, by which the daemon says that they are written down. */
export const FromResolver = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("threat"), number: Count, threat: ListedThreat }),
  z.object({ kind: z.literal("queries"), number: Count, queries: ReportedQueries }),
  z.object({ kind: z.literal("state"), state: ResolverState }),
]);
export type FromResolver = z.infer<typeof FromResolver>;

/** A threat that is not taken within half a minute is sent again. */
export const ToResolver = z.object({ kind: z.enum(["taken", "queries-taken"]), number: Count });
export type ToResolver = z.infer<typeof ToResolver>;

/** What the decoys' process and the daemon say to each other, as JSON over a socket in the folder that they share. */
import { HoneypotHit } from "@lanthorn/contract/uplink";
import * as z from "zod";

/** The socket's name in the folder: who may enter that may connect. */
export const LINK_SOCKET = "link";

const Count = z.int().min(0);
const Milliseconds = z.number().min(0).max(8_640_000_000_000_000);

/** What one source did with one decoy since it began: the event's data, with milliseconds since the epoch for instants. The daemon knows MAC addresses. */
export const ReportedHit = HoneypotHit.omit({ source_mac: true, count: true, mitre_techniques: true }).required().extend({
  connections: z.int().min(1), techniques: z.array(z.string().max(16)).max(32), since: Milliseconds, last_at: Milliseconds,
});
export type ReportedHit = z.infer<typeof ReportedHit>;

/** Hits have numbers, by which the daemon says that they are written down. */
export const FromDecoys = z.object({ kind: z.literal("hit"), number: Count, hit: ReportedHit });
export type FromDecoys = z.infer<typeof FromDecoys>;

/** A hit that is not taken within half a minute is sent again. */
export const ToDecoys = z.object({ kind: z.literal("taken"), number: Count });
export type ToDecoys = z.infer<typeof ToDecoys>;

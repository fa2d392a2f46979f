/** What the decoys' process and the daemon say to each other, as JSON over a socket in the folder that they share. */
import { DecoyExemption, DecoysState, HoneypotCredentials, HoneypotEvidence, HoneypotHit, IpAddress, MAX_DECOY_EXEMPTIONS, Port } from "@lanthorn/contract/uplink";
import * as z from "zod";
import { MAX_LOOKS, ScanLook } from "../scans/scan-look.ts";

/** The socket's name in the folder: who may enter that may connect. */
export const LINK_SOCKET = "link";

const Count = z.int().min(0);
const Milliseconds = z.number().min(0).max(8_640_000_000_000_000);

/** What one source did with one decoy since it began: the event's data, with milliseconds since the epoch for instants. The daemon knows MAC addresses. */
export const ReportedHit = HoneypotHit.omit({ source_mac: true, count: true, mitre_techniques: true }).required().extend({
  connections: z.int().min(1), techniques: z.array(z.string().max(16)).max(32), since: Milliseconds, last_at: Milliseconds,
  /** Pieces of evidence that there was no room for. */
  left_out: Count.default(0),
});
export type ReportedHit = z.infer<typeof ReportedHit>;

/** How the decoys are: as the daemon reports it, which knows whether they run. */
export const ReportedState = DecoysState.omit({ is_running: true });
export type ReportedState = z.infer<typeof ReportedState>;

const TrialPlace = z.object({ address: IpAddress, port: Port.min(1), transport: z.enum(["tcp", "udp"]).default("tcp") });
/** Where a decoy is tested: the first of its services that is served. */
export type TrialPlace = z.infer<typeof TrialPlace>;

/** What is reported has numbers, by which the daemon says that it is written down: those of hits, of credentials and of evidence. Null came as something else: it is taken, too, for it would be nothing else when it came again. */
export const FromDecoys = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("hit"), number: Count, hit: ReportedHit.nullable().catch(null) }),
  z.object({ kind: z.literal("credentials"), number: Count, credentials: HoneypotCredentials.nullable().catch(null) }),
  z.object({ kind: z.literal("evidence"), number: Count, evidence: HoneypotEvidence.nullable().catch(null) }),
  z.object({ kind: z.literal("state"), state: ReportedState }), z.object({ kind: z.literal("test-expected"), number: Count, place: TrialPlace.nullable() }),
]);
export type FromDecoys = z.infer<typeof FromDecoys>;

/** What is not taken within half a minute is sent again. All that the decoys learn of the probe is who is exempt, and who scanned their own addresses. */
export const ToDecoys = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("taken"), number: Count }), z.object({ kind: z.literal("credentials-taken"), number: Count }),
  z.object({ kind: z.literal("evidence-taken"), number: Count }),
  z.object({ kind: z.literal("test"), number: Count, decoy: z.string().max(64) }),
  z.object({ kind: z.literal("scans"), looks: z.array(ScanLook).max(MAX_LOOKS) }),
  z.object({ kind: z.literal("exemptions"), exemptions: z.array(DecoyExemption).max(MAX_DECOY_EXEMPTIONS + 1) }),
]);
export type ToDecoys = z.infer<typeof ToDecoys>;

import * as z from "zod";
import { Id, Instant } from "../values.ts";

/** Characters of the rules that a test has in its body. */
export const MAX_IDS_TEST_CHARACTERS = 65_536;
/** Bytes of a capture that a test reads, unpacked. */
export const MAX_IDS_TEST_BYTES = 33_554_432;

const RuleNumber = z.int().min(0).max(4_294_967_295);

/** Exactly one of `rule` and `signature_id`, and exactly one of `capture` and `pcap_id`. */
export const IdsTest = z.strictObject({
  rule: z.string().min(1).max(MAX_IDS_TEST_CHARACTERS).optional()
    .describe("Rules in Suricata's language, one a line. The last is tested; those before it run too, so that flowbits are set that it asks for."),
  signature_id: RuleNumber.optional().describe("Number of a rule of the active rule sets, as probes get it. Enabled rules that set its flowbits run beside it."),
  generator_id: RuleNumber.default(1).describe("Group of the signature's number."),
  site_id: Id.optional().describe("As rules count at this site, with its networks as HOME_NET."),
  capture: z.base64().min(1).optional().describe("A pcap or pcapng file, packed by gzip or as it is, in Base64."),
  pcap_id: Id.optional().describe("A stored capture. It needs the scope `pcap:download`, and is a download in the audit log."),
  reason: z.string().trim().min(1).max(255).optional().describe("Why the stored capture is read. Some sites demand it."),
}).refine(({ rule, signature_id: signature }) => (rule === undefined) !== (signature === undefined), "exactly one of rule and signature_id is needed")
  .refine(({ capture, pcap_id: pcap }) => (capture === undefined) !== (pcap === undefined), "exactly one of capture and pcap_id is needed");
export type IdsTest = z.infer<typeof IdsTest>;

/** One end of the traffic. */
const End = z.object({ ip: z.string().describe("Its address."), port: z.int().nullable().describe("Its port. Null where the protocol has none.") });

/** Where a rule, or the beginning of it, matched. */
export const IdsTestMatch = z.object({
  frame: z.int().nullable().describe("Number of the frame in the capture, from 1, in which it was noticed. Null where that was at the end of a flow."),
  at: Instant.describe("Time of the frame."),
  direction: z.enum(["to-server", "to-client"]).describe("Which way the packet went."),
  source: End.describe("Sender of the packet."),
  destination: End.describe("Its receiver."),
  protocol: z.int().describe("Number of the protocol of IP, as 6 for TCP."),
  application: z.string().describe("The protocol of the application, as `http`. Empty where none was recognized."),
  buffers: z.array(z.object({
    buffer: z.string().describe("The buffer, as `http.uri`."),
    offset: z.int().describe("Where in the buffer the first match begins."),
    length: z.int().describe("Up to the end of the last match."),
    bytes: z.string().describe("The bytes that matched, in Base64, at most 256."),
  })).describe("Where in which buffer."),
});
export type IdsTestMatch = z.infer<typeof IdsTestMatch>;

/** `kind` of a rule's part. */
export const IDS_RULE_PARTS = [
  "protocol", "application", "addresses", "ports", "direction", "flow", "condition", "buffer", "content", "pcre", "bytes", "bits", "threshold",
] as const;

const Part = {
  kind: z.enum(IDS_RULE_PARTS).describe("What it is about: the header (`protocol`, `application`, `addresses`, `ports`, `direction`), `flow`, a `condition` as `dsize`, a `buffer` that must be there, its `content`, `pcre` or "
    + "`bytes` (`byte_test` and the like), `bits` as flowbits, or a `threshold`."),
  text: z.string().describe("It, in the language of rules."),
  buffer: z.string().describe("The buffer that it is about. Empty for none."),
};

/** A rule that cannot be run. */
const Refusal = z.object({
  generator_id: z.int().describe("Group of the signature's number."),
  signature_id: z.int().nullable().describe("Number of the rule. Null where none can be read."),
  keyword: z.string().describe("What in it is not run."),
  reason: z.string().describe("Why it is so."),
});

/** What a capture says of a rule. */
export const IdsTestResult = z.object({
  matched: z.boolean().describe("Whether the rule matches, without regard to thresholds."),
  alerts: z.int().min(0).describe("How often it would alert: less than `matches` by its thresholds, none of `pass` and `noalert`."),
  matches: z.int().min(0).describe("How often it matches."),
  shown: z.array(IdsTestMatch).describe("The first matches, at most 20."),
  missed: z.object({
    ...Part,
    matches_without: z.boolean().nullable().describe("Whether the rule matches without it. Null where it cannot be left out alone."),
    candidate: IdsTestMatch.nullable().describe("The first place that has all parts before it. Null for the first part, and where there is none."),
  }).nullable().describe("The part that does not match, or the threshold that keeps it from alerting. Null where it alerts."),
  parts: z.array(z.object({ ...Part, matches: z.int().min(0).describe("How often it and all before it match.") })).describe("What the rule asks for, in order, at most 100 and its thresholds."),
  refusal: Refusal.nullable().describe("Why the rule cannot be run. Null where it can."),
  rule: z.string().describe("The rule that was tested."),
  beside: z.array(z.string()).describe("Rules that ran beside it, as `1:2010935`: those that set its flowbits."),
  beside_refused: z.array(Refusal).describe("Of the rules before it, those that cannot be run."),
  unset_bits: z.array(z.string()).describe("Flowbits that it asks for and that no rule here sets."),
  frames: z.int().min(0).describe("Frames that were read."),
  problem: z.string().nullable().describe("Why the capture was not read to its end. Null where it was."),
  gave_up: z.boolean().describe("Whether some work was left out at its bound, so that a match may be missing."),
});
export type IdsTestResult = z.infer<typeof IdsTestResult>;

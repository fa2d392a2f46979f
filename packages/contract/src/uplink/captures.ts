import * as z from "zod";
import { Id, Instant, IpAddress, IpNetwork, MacAddress, Port } from "../values.ts";

/** Captures: what the collector asks of a probe's recorder, and what the recorder says of its files. */

/** Longest filter, in characters. @see pcap-filter(7) */
export const MAX_PCAP_FILTER = 1024;
/** Longest capture on demand, in seconds. */
export const MAX_PCAP_SECONDS = 86_400;
/** Most packets of a capture on demand. */
export const MAX_PCAP_PACKETS = 100_000_000;
/** Largest capture or export, in bytes: what every collector and probe may lower. */
export const MAX_PCAP_BYTES = 4 * 1024 * 1024 * 1024;
/** Most bytes of a frame that are kept. */
export const MAX_PCAP_SNAP_LENGTH = 262_144;
/** Most frames in a reply to `pcap_watch`. */
export const MAX_PCAP_WATCH_FRAMES = 500;
/** Most bytes of frames in a reply to `pcap_watch`, before Base64: with the rest of it they fit a message. */
export const MAX_PCAP_WATCH_BYTES = 512 * 1024;
/** A probe ends a watch that nobody has asked about for so long. */
export const PCAP_WATCH_SECONDS = 30;

const Filter = z.string().max(MAX_PCAP_FILTER);
const Interface = z.string().min(1).max(64).nullable();
const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** What `COMMANDS` has of captures. What the probe cannot do is refused in its reply, a filter with the compiler's own words. */
export const PCAP_COMMANDS = {
  /** Begins a capture; replied to when it runs. It ends at the first of `seconds`, `packets` and `bytes`; the reply has those that hold, which may be lower. */
  pcap_start: z.object({
    pcap_id: Id,
    /** Null for all that the probe records. */
    interface: Interface,
    /** Empty for all frames. */
    filter: Filter,
    seconds: z.int().min(1).max(MAX_PCAP_SECONDS),
    packets: z.int().min(1).max(MAX_PCAP_PACKETS),
    bytes: z.int().min(1024).max(MAX_PCAP_BYTES),
    snap_length: z.int().min(14).max(MAX_PCAP_SNAP_LENGTH),
    headers_only: z.boolean(),
  }),
  /** Ends a capture; what it has becomes its file. Replied to with `running`: whether there was such a capture. */
  pcap_stop: z.object({ pcap_id: Id }),
  /** Cuts a file from what was recorded continuously; replied to when it begins, with the `bytes` that hold. `side` is which end of the conversation sent what is kept. */
  pcap_export: z.object({
    pcap_id: Id,
    from: Instant,
    to: Instant,
    host: z.union([IpAddress, MacAddress]).nullable(),
    peer: z.union([IpAddress, MacAddress]).nullable(),
    side: z.enum(["both", "source", "destination"]),
    filter: Filter,
    bytes: z.int().min(1024).max(MAX_PCAP_BYTES),
  }),
  /** Sends up a file that lies at the probe. Refused where there is none. */
  pcap_fetch: z.object({ pcap_id: Id }),
  /** Removes a file from the probe, and ends its capture. Replied to with `deleted`: whether there was one. */
  pcap_delete: z.object({ pcap_id: Id }),
  /**
   * The frames after `after` of a live view, 0 for the first time, which begins it; replied to at once with `PcapWatchReply`. It ends when
   * it was not asked for `PCAP_WATCH_SECONDS`, or when `limit` is 0. Refused with an `after` above 0 where there is no such view.
   */
  pcap_watch: z.object({
    watch_id: Id,
    interface: Interface,
    filter: Filter,
    after: Count,
    limit: z.int().min(0).max(MAX_PCAP_WATCH_FRAMES),
    snap_length: z.int().min(14).max(2048),
  }),
} as const;

/** A frame of a live view. */
export const PcapWatchFrame = z.object({
  seq: Count.describe("Number of the frame in this view, from 1."),
  at: Instant.describe("When it was seen, by the probe's clock."),
  wire_length: z.int().min(0).max(0xff_ff_ff_ff).describe("Its length on the wire, in bytes."),
  bytes: z.base64().max(2732).describe("Its first bytes from the destination MAC on, in Base64."),
});
export type PcapWatchFrame = z.infer<typeof PcapWatchFrame>;

/** Data of the reply to `pcap_watch`. */
export const PcapWatchReply = z.object({
  frames: z.array(PcapWatchFrame).max(MAX_PCAP_WATCH_FRAMES).describe("Frames that the filter lets through, in their order."),
  missed: Count.describe("Frames that the filter lets through and that are not shown, because there were too many, since `after`."),
  next: Count.describe("Send it as `after` to get what follows."),
});
export type PcapWatchReply = z.infer<typeof PcapWatchReply>;

const Amount = { packets: Count.describe("How many packets."), bytes: Count.describe("Their bytes on the wire.") };

/** What is in a capture file, as far as it fits: made while it is written. */
export const PcapSummary = z.object({
  protocols: z.array(z.object({ name: z.string().min(1).max(32).describe("The protocol's name, as `dns`."), ...Amount })).max(32)
    .describe("Protocols, the most packets first."),
  talkers: z.array(z.object({ address: z.string().min(1).max(45).describe("An IP address, or a MAC address where there is none."), ...Amount })).max(32)
    .describe("Who sent or received the most bytes."),
  flows: z.array(z.object({
    protocol: z.string().max(16).describe("The protocol, as `tcp`."),
    source: z.string().max(45).describe("Address of the side that was seen first."),
    source_port: Port.describe("Its port; 0 for none."),
    destination: z.string().max(45).describe("Address of the other side."),
    destination_port: Port.describe("Its port; 0 for none."),
    ...Amount,
  })).max(32).describe("Conversations, the most bytes first."),
  flows_total: Count.describe("How many conversations there are, as far as they were counted."),
  timeline: z.object({
    from: Instant.describe("When the first step begins."),
    step_ms: z.int().min(1).max(86_400_000).describe("How long a step is, in milliseconds."),
    packets: z.array(Count).max(128).describe("How many packets each step has."),
  }).describe("Packets over time."),
});
export type PcapSummary = z.infer<typeof PcapSummary>;

/** What became of frames while a file was written. A frame is counted once. */
export const PcapCounters = z.object({
  received: Count.describe("Frames that reached the recorder, kept or not."),
  dropped_by_kernel: Count.describe("Frames that the kernel dropped, because the recorder was too slow."),
  dropped_by_probe: Count.describe("Frames that the recorder dropped, because it was overloaded or its ring had lost them."),
  left_out: Count.describe("Frames that the filter, or what the capture is about, left out on purpose."),
});
export type PcapCounters = z.infer<typeof PcapCounters>;

/** Why a probe records by itself or not, and what it may keep of payload. */
const CAPTURE_SETTINGS = {
  evidence: z.boolean().describe("Whether the probes keep the packets around an alert."),
  upload: z.enum(["at_once", "on_demand"])
    .describe("`at_once`: files go up to the collector as soon as they are whole. `on_demand`: they stay at the probe until somebody downloads them."),
  headers_only: z.boolean().describe("Whether captures hold only headers, and no payload, of every host."),
  headers_only_networks: z.array(IpNetwork).max(256).describe("Networks of which captures hold only headers: packets from or to them are cut where the payload begins."),
  require_reason: z.boolean().describe("Whether everybody who downloads or watches packets of the site has to give a reason, which is audited."),
} as const;

/** Part `capture` of a probe's configuration: the site's settings. It can only narrow what the probe's own file allows. */
export const CaptureSettings = z.object(CAPTURE_SETTINGS);
export type CaptureSettings = z.infer<typeof CaptureSettings>;

/** As long as nobody has changed them. */
export const DEFAULT_CAPTURE_SETTINGS: CaptureSettings = {
  evidence: true, upload: "at_once", headers_only: false, headers_only_networks: [], require_reason: false,
};

/** How the process that reads all traffic is. */
export const TrafficHealth = z.object({
  flows: z.object({
    open: Count.describe("Conversations that go on."),
    ended: Count.describe("Conversations that have ended."),
    evicted: Count.describe("Conversations that were no longer followed, because there were too many."),
    services: z.array(z.object({
      name: z.string().max(32).describe("What was spoken, as `dns`; the protocol where that is not known."),
      flows: Count.describe("How many conversations have ended."),
      ...Amount,
    })).max(16).describe("What was spoken in the conversations that have ended, the most bytes first."),
    inspection: z.object({
      steps: Count.describe("Messages, lines and records that were read in conversations: a measure of the work."),
      too_costly: Count.describe("Sides of conversations that were no longer read, because they said too much in too few bytes, as an attacker does to keep the probe busy."),
      too_long: Count.describe("Sides of conversations that were no longer read, because one message was longer than the limit."),
    }).optional().describe("How what is said in conversations is read. Older probes do not report it."),
  }).optional().describe("Who speaks with whom, as far as it is counted. Since the process began."),
  state: z.enum(["running", "starting", "failed"])
    .describe("`running`: frames are read. `starting`: the process begins, or begins again. `failed`: it ended, and begins again later; see `error`."),
  error: z.string().max(512).nullable().describe("What is wrong, in words. Null for nothing."),
  memory_bytes: Count.describe("Memory that the process uses, in bytes."),
  restarts: Count.describe("How often it was started again since the probe started."),
  gap: z.object({
    from: Instant.describe("When it began."),
    to: Instant.nullable().describe("When it was over. Null while it goes on."),
    reason: z.string().max(255).describe("Why, in words."),
  }).nullable().describe("The last time in which nothing was recorded. Null for none since the probe started."),
  interfaces: z.array(z.object({
    name: z.string().max(64).describe("Its name, as `eth1`."),
    up: z.boolean().describe("Whether frames are read from it."),
    frames: Count.describe("Frames that were read."),
    octets: Count.describe("Their bytes on the wire."),
    dropped_by_kernel: Count.describe("Frames that the kernel dropped."),
  })).max(16).describe("The interfaces that it reads. All counts are since the probe started."),
  shed: z.array(z.object({
    sink: z.string().max(64).describe("What did without them, as `continuous`."),
    frames: Count.describe("How many frames."),
    octets: Count.describe("Their bytes."),
  })).max(16).describe("Frames that were read, and that a part of the recorder did without because there were too many."),
  ring: z.object({
    seconds: z.number().min(0).describe("How far back it reaches, in seconds."),
    bytes: Count.describe("Its size in bytes."),
  }).describe("The ring in memory from which the packets before an alert are taken."),
  captures: z.array(z.object({
    pcap_id: Id.describe("The capture."),
    filter: Filter.describe("Which packets it keeps. Empty for all."),
    kept: Count.describe("Packets that it has kept."),
    left_out: Count.describe("Packets that its filter has left out."),
  })).max(16).describe("Captures that run now."),
  continuous: z.object({
    bytes: Count.describe("Size of its files, in bytes."),
    budget_bytes: Count.describe("How large they may be together, in bytes."),
    from: Instant.nullable().describe("When the oldest packet was seen. Null while there is none."),
    to: Instant.nullable().describe("When the newest packet was seen. Null while there is none."),
    problem: z.string().max(255).nullable().describe("Why it does not write now, in words. Null where it does."),
  }).nullable().describe("What is recorded continuously on the probe's disk. Null where that is off."),
  dns: z.object({
    messages: Count.describe("Messages of DNS that were read."),
    suspicions: Count.describe("How often a detector had something to say."),
    evicted: Count.describe("Facts about clients and domains that were forgotten, because there were too many."),
    listed_names: Count.describe("Names and networks of lists of malware, phishing or command and control that what clients ask and say is compared with. 0 where the site has none."),
    listed: Count.describe("How often one of them was asked for or spoken to."),
  }).optional().describe("What is found in clients' DNS, TLS, QUIC and HTTP. Since the process began. Older probes do not report it."),
  anomaly: z.object({
    learning: Count.describe("Devices of which too little is known yet: they raise no alert."),
    active: Count.describe("Devices whose behavior is compared with what is usual for them."),
    drifted: Count.describe("Devices that changed for days and are learned anew."),
    frozen: Count.describe("Devices that are compared and not learned."),
    evicted: Count.describe("Devices that were forgotten, because there were too many."),
    compared_hours: Count.describe("Hours of packet time that were compared with what is usual."),
    thin_hours: Count.optional().describe("Those of them that were not learned, because more than a hundredth of their frames or conversations was lost or left out, as in a flood. Older probes do not report it."),
    distrusted_hours: Count.describe("Hours that were neither compared nor learned, because nobody looked for a part of them."),
    clock_steps: Count.describe("How often the time of packets went back, or jumped over more than an hour."),
    found: Count.describe("Anomalies that were reported."),
    held_back: Count.describe("Those of them beyond the day's budget: they raise no alert."),
    suppressed: Count.describe("Anomalies that somebody said are normal."),
    left_out: Count.describe("Anomalies that were not reported, because there were too many in an hour."),
    flows_left_out: Count.describe("Conversations that were not looked at, because there were too many in a second: of 5,000, half are for devices that open few."),
    countries: Count.optional().describe("Ranges of addresses of which it is known in which country they are registered. 0 while the collector has published none: a new country is not found then. Older probes do not report it."),
    damaged: Count.describe("Saved facts that could not be read. They are learned anew; the file is set aside."),
    other_version: Count.optional().describe("Saved facts of another version of the probe, which this one does not read. They are learned anew; the file is set aside. Older probes do not report it."),
  }).optional().describe("How the behavior of the site's devices is watched. Since the process began. Older probes do not report it."),
});
export type TrafficHealth = z.infer<typeof TrafficHealth>;

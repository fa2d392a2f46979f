import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { BATCH_MAX_EVENTS, MESSAGE_VERSION, type ProbeEvent } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import type { ProbeIdentity } from "../system/simulated-probe.ts";
import { type Attack, openUplink, repeat, type Tally, type Uplink } from "./hostile-means.ts";

const IN_FLIGHT = 20;
const QOS2_BYTES = 900_000;
const MAX_QOS2_BYTES = 1.2e9;
/** The attacker's own memory is not what is measured. */
const MAX_BUFFERED_BYTES = 8_000_000;
const ANSWER_MS = 5000;
/** What is sent of the future: no time is later. */
const YEAR_9999 = "9999-12-31T23:59:59.999Z";
/** What may be in the middle of a pattern for a name, a model or a version, each repeated until the text is full. */
const PUMPS = [
  "U6-", "UAP-", "USW-", "a ", "1.", "v1", "Version ", "Cisco IOS ", "JUNOS ", "RouterOS ", "-", "(", "\t", "_", "HP ", "Linux 1.1",
  "\u00e9", "Aruba ", "ProCurve ", "software ", "x", " , ", "::", "ubnt ", "MIPS ", "Firmware ", "EdgeSwitch ", "FortiGate-", "PAN-OS ",
  "0",
];

interface Answer {
  readonly queue_id: string | null;
  readonly watermark: number;
  readonly refused: { readonly code: string } | null;
}

/** Keeps so many batches under way until the time is over, and connects again whenever it is thrown out. */
async function publishBatches(
  options: { readonly identity: ProbeIdentity; readonly seconds: number; readonly inFlight: number; readonly tally: Tally },
  make: () => Buffer, onAnswer: (answer: Answer) => void = () => {},
): Promise<void> {
  const { identity, seconds, inFlight, tally } = options;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    let waiting: (() => void)[] = [];
    const uplink: Uplink | null = await openUplink(identity, (packet) => {
      if (packet.cmd !== "publish") return;
      const answer = JSON.parse(packet.payload.toString()) as Answer;
      tally.answer(answer.refused ? answer.refused.code : "acknowledged");
      onAnswer(answer);
      waiting.shift()?.();
    });
    if (!uplink) {
      tally.answer("not let in");
      await pause(300);
      continue;
    }
    await repeat({ seconds: (end - performance.now()) / 1000, atOnce: inFlight, most: Number.POSITIVE_INFINITY }, async () => {
      if (!uplink.isOpen()) return pause(50);
      const payload = make();
      tally.sent(payload.length);
      uplink.publish("events", payload);
      const isAnswered = await Promise.race([
        new Promise<true>((resolve) => {
          waiting.push(() => resolve(true));
        }),
        uplink.closed, pause(ANSWER_MS, false as const),
      ]);
      if (isAnswered === false) tally.answer(`no answer in ${ANSWER_MS / 1000} s`);
      return undefined;
    });
    if (!uplink.isOpen()) tally.answer("closed");
    uplink.close();
    waiting = [];
  }
}

/** One queue, from its start: each batch follows what was acknowledged. */
function createQueue(): { batch(events: readonly ProbeEvent[], sentAt?: string): Buffer; onAnswer(answer: Answer): void } {
  const queueId = createId();
  let watermark = 0;
  return {
    batch(events, sentAt = toInstant(Date.now())) {
      const numbered = events.map((event, index) => ({ seq: watermark + 1 + index, ...event }));
      const batch = { v: MESSAGE_VERSION, queue_id: queueId, after: watermark, sent_at: sentAt, events: numbered };
      return gzipSync(JSON.stringify(batch), { level: 1 });
    },
    onAnswer({ queue_id, watermark: upTo }) {
      if (queue_id === queueId) watermark = Math.max(watermark, upTo);
    },
  };
}

const hex = (value: number) => (value & 0xff).toString(16).padStart(2, "0");

function host(
  mac: string, ip: string, evidence: readonly { readonly field: string; readonly value: string; readonly source?: string }[], at: string,
): ProbeEvent {
  const seen = evidence.map((each) => ({ source: "dhcp", ...each, confidence: 0.9, seen_at: at }));
  const hostname = evidence.find(({ field }) => field === "hostname")?.value ?? "";
  return {
    type: "host_found", occurred_at: toInstant(Date.now()), data: { ip, mac, hostname, vendor: "", addresses: [ip], evidence: seen },
  };
}

/** A new queue in every batch. */
export const queueIds: Attack = ({ probes: { queues: identity }, seconds }, tally) =>
  publishBatches({ identity, seconds, inFlight: IN_FLIGHT, tally }, () => {
    const at = toInstant(Date.now());
    return createQueue().batch([
      { type: "host_online", occurred_at: at, data: { ip: "10.88.0.1", mac: "00:1b:63:88:00:01", last_seen_at: at } },
    ]);
  });

/** Messages of QoS 2 that are never released, so that the broker has to keep each. */
export const qos2: Attack = async ({ probes: { qos2: identity }, seconds }, tally) => {
  const end = performance.now() + seconds * 1000;
  const payload = Buffer.alloc(QOS2_BYTES, 0x41);
  let bytes = 0;
  while (performance.now() < end && bytes < MAX_QOS2_BYTES) {
    const uplink = await openUplink(identity, (packet) => {
      if (packet.cmd === "pubrec") tally.answer("kept");
    });
    if (!uplink) {
      tally.answer("not let in");
      await pause(300);
      continue;
    }
    while (uplink.isOpen() && performance.now() < end && bytes < MAX_QOS2_BYTES) {
      await pause(5);
      if (uplink.buffered() > MAX_BUFFERED_BYTES) continue;
      uplink.publish("events", payload, 2);
      tally.sent(payload.length);
      bytes += payload.length;
    }
    tally.answer(uplink.isOpen() ? "still open" : "closed");
    uplink.close();
    await pause(100);
  }
};

/** Payloads that are large when they are unpacked: as nothing, and as events that each are as large as they may be. */
export const compression: Attack = ({ probes: { bytes: identity }, seconds }, tally) => {
  const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
  // Members of a gzip file follow each other.
  const bomb = Buffer.concat(Array.from({ length: 8 }, () => zeros));
  const queue = createQueue();
  let count = 0;
  return publishBatches({ identity, seconds, inFlight: 1, tally }, () => {
    count += 1;
    if (count % 4 === 0) return bomb;
    const at = toInstant(Date.now());
    const events = Array.from({ length: BATCH_MAX_EVENTS }, (_, index) => host(
      `00:1b:63:77:${hex(index >> 8)}:${hex(index)}`, `10.77.${index >> 8}.${index & 255}`,
      Array.from({ length: 6 }, (__, field) => ({ field: `field_${field}`, value: `${count}${"a".repeat(1000)}` })), at,
    ));
    return queue.batch(events);
  }, queue.onAnswer);
};

/** Alerts by the thousand, each at another time of a clock that lies; and evidence from the year 9999 about what the good probe sees. */
export const alertStorm: Attack = ({ probes: { beside }, seconds }, tally) => {
  const queue = createQueue();
  let count = 0;
  return publishBatches({ identity: beside, seconds, inFlight: 1, tally }, () => {
    const events = Array.from({ length: BATCH_MAX_EVENTS - 8 }, (_, index): ProbeEvent => {
      count += 1;
      return {
        type: "honeypot_hit", occurred_at: toInstant(Date.now() - count * 61_000),
        data: {
          service: `service-${count}`, stage: "credential", severity: "critical",
          source_ip: `10.${count >> 16}.${(count >> 8) & 255}.${count & 255}`, source_mac: "00:0c:29:01:02:03",
          source_port: 1024 + (count % 60_000), destination_port: index, username: "root", detail: `try ${count}`,
        },
      };
    });
    const claims = Array.from({ length: 8 }, (_, index) => host(
      `00:1b:63:00:00:0${index}`, `10.20.0.${10 + index}`, [
        { field: "hostname", value: `taken-${index}` }, { field: "device_type", value: "printer", source: "snmp" },
        { field: "os", value: "Windows", source: "snmp" },
      ], YEAR_9999,
    ));
    return queue.batch([...claims, ...events], toInstant(Date.now() - 30 * 86_400_000 + count));
  }, queue.onAnswer);
};

/** Hosts that nobody has: made-up addresses, which never answer. */
export const macFlood: Attack = ({ probes: { elsewhere }, seconds }, tally) => {
  const queue = createQueue();
  let count = 0;
  return publishBatches({ identity: elsewhere, seconds, inFlight: 1, tally }, () => {
    const at = toInstant(Date.now());
    return queue.batch(Array.from({ length: BATCH_MAX_EVENTS }, () => {
      count += 1;
      const [high, middle, low] = [hex(count >> 16), hex(count >> 8), hex(count)];
      return host(`02:5e:ed:${high}:${middle}:${low}`, `10.${128 + (count >> 16)}.${(count >> 8) & 255}.${count & 255}`, [], at);
    }));
  }, queue.onAnswer);
};

/** Neighbors whose descriptions are made to keep a pattern busy. */
export const pumpedTexts: Attack = ({ probes: { neighbors: identity }, seconds }, tally) => {
  const queue = createQueue();
  let count = 0;
  return publishBatches({ identity, seconds, inFlight: 1, tally }, () => {
    const at = toInstant(Date.now());
    return queue.batch(Array.from({ length: 100 }, (): ProbeEvent => {
      count += 1;
      const pump = PUMPS[count % PUMPS.length] as string;
      const pumped = (length: number) => pump.repeat(length).slice(0, length);
      return {
        type: "neighbor_discovered", occurred_at: at,
        data: {
          protocol: count % 2 === 0 ? "lldp" : "cdp", local_interface: "lan0", chassis_id: `chassis-${count % 250}`, port_id: "1",
          port_description: pumped(255), system_name: pumped(255), system_description: pumped(1024), capabilities: ["bridge"],
          management_addresses: [], vlan_ids: [], ttl_seconds: 120, platform: pumped(255), source_mac: "00:1b:63:66:00:01",
        },
      };
    }));
  }, queue.onAnswer);
};

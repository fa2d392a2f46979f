import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import {
  Acknowledgement, Batch, BehaviourListReply, BehaviourReply, Command, COMMANDS, EVENTS, EVENT_TYPES, type EventType, parseProbeEvent, PcapWatchReply, ProbeConfiguration, ProbeHealth,
  ProbeStatus, Reply, STREAM_EVENTS, streamDataSchemas, StreamFrame, WEBHOOK_EVENTS, WebhookPayload,
} from "./index.ts";

const SAMPLES = fileURLToPath(new URL("../samples/", import.meta.url));

/** Message → schema. Samples of released versions stay as they are: a collector reads what older probes send. */
const MESSAGES: Readonly<Record<string, z.ZodType>> = {
  batch: Batch,
  acknowledgement: Acknowledgement,
  "acknowledgement-refused": Acknowledgement,
  status: ProbeStatus,
  health: ProbeHealth,
  "health-configuration": ProbeHealth,
  "health-guards": ProbeHealth,
  "health-coverage": ProbeHealth,
  "health-network-facts": ProbeHealth,
  "health-traffic": ProbeHealth,
  "health-ids": ProbeHealth,
  "health-decoys": ProbeHealth,
  "health-decoys-own-address": ProbeHealth,
  configuration: ProbeConfiguration,
  "configuration-credentials": ProbeConfiguration,
  "configuration-guards": ProbeConfiguration,
  "configuration-capture": ProbeConfiguration,
  "configuration-anomalies": ProbeConfiguration,
  "configuration-decoys": ProbeConfiguration,
  "configuration-password-key": ProbeConfiguration,
  command: Command,
  "command-scan-start": Command,
  "command-scan-cancel": Command,
  "command-guards-learn": Command,
  "command-decoy-test": Command,
  "command-pcap-start": Command,
  "command-pcap-stop": Command,
  "command-pcap-export": Command,
  "command-pcap-fetch": Command,
  "command-pcap-delete": Command,
  "command-pcap-watch": Command,
  "command-behaviour-read": Command,
  "command-behaviour-list": Command,
  "command-behaviour-freeze": Command,
  "command-behaviour-reset": Command,
  reply: Reply,
  "reply-failed": Reply,
  "reply-refused": Reply,
  "reply-not-configured": Reply,
  "reply-pcap-watch": Reply,
  "reply-behaviour-read": Reply,
  "reply-behaviour-list": Reply,
  "stream-frame": StreamFrame,
  "webhook-payload": WebhookPayload,
};

function readSample(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(`${SAMPLES}${path}`, "utf8"));
}

describe.each(readdirSync(SAMPLES))("samples of %s", (version) => {
  const files = readdirSync(`${SAMPLES}${version}`).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
  const eventFiles = readdirSync(`${SAMPLES}${version}/events`).map((name) => name.slice(0, -5));
  /** `port_found-software` is an event of the type `port_found` with what older probes leave out. */
  const typeOf = (name: string) => name.replace(/-.*/, "") as EventType;

  test("cover every message and every event", () => {
    expect(files.toSorted()).toEqual(Object.keys(MESSAGES).toSorted());
    expect(eventFiles.filter((name) => !name.includes("-")).toSorted()).toEqual([...EVENT_TYPES].toSorted());
  });

  test.each(files)("message %s is read without losing anything", (name) => {
    const sample = readSample(`${version}/${name}.json`);
    expect(MESSAGES[name]?.parse(sample)).toEqual(sample);
  });

  test.each(files.filter((name) => name.startsWith("command")))("what the %s says is read without losing anything", (name) => {
    const { type, data } = Command.parse(readSample(`${version}/${name}.json`));
    expect(COMMANDS[type].parse(data)).toEqual(data);
  });

  test("what the reply to pcap_watch says is read without losing anything", () => {
    const { data } = Reply.parse(readSample(`${version}/reply-pcap-watch.json`));
    expect(PcapWatchReply.parse(data)).toEqual(data);
  });

  test("what the reply to behaviour_read says is read without losing anything", () => {
    const { data } = Reply.parse(readSample(`${version}/reply-behaviour-read.json`));
    expect(BehaviourReply.parse(data)).toEqual(data);
  });

  test("what the reply to behaviour_list says is read without losing anything", () => {
    const { data } = Reply.parse(readSample(`${version}/reply-behaviour-list.json`));
    expect(BehaviourListReply.parse(data)).toEqual(data);
  });

  test.each(eventFiles)("event %s is read without losing anything", (name) => {
    const sample = readSample(`${version}/events/${name}.json`);
    expect(EVENTS[typeOf(name)].data.parse(sample["data"])).toEqual(sample["data"]);
  });

  test.each(eventFiles.filter((name) => !name.includes("-")))("event %s with any one field left out is refused", (name) => {
    const data = readSample(`${version}/events/${name}.json`)["data"] as Record<string, unknown>;
    for (const field of Object.keys(data)) {
      const { [field]: _, ...rest } = data;
      expect(EVENTS[name as EventType].data.safeParse(rest).success, field).toBe(false);
    }
  });
});

describe("the table of events", () => {
  test("gives every event of the stream and of the webhooks a producer", () => {
    const produced = EVENT_TYPES.map((type) => EVENTS[type]);
    expect(STREAM_EVENTS.filter((event) => !produced.some((declaration) => declaration.stream === event))).toEqual([]);
    expect(WEBHOOK_EVENTS.filter((event) => !produced.some((declaration) => declaration.webhook === event))).toEqual([]);
  });

  test("gives every stream event data that names its site, probe and device", () => {
    for (const event of STREAM_EVENTS) {
      for (const schema of streamDataSchemas(event)) {
        expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining(["site_id", "probe_id", "device_id"]));
      }
    }
  });
});

describe("an event from a probe", () => {
  const sample = readSample("v1/events/host_found.json");

  test("is taken when it is whole, and unknown fields are left out", () => {
    const result = parseProbeEvent({ ...sample, data: { ...(sample["data"] as object), colour: "red" } });
    expect(result).toEqual({ ok: true, event: sample });
  });

  test.each([
    ["no object", 17],
    ["an unknown type", { ...sample, type: "constructor" }],
    ["a type that only the collector says", { ...readSample("v1/events/probe_silent.json") }],
    ["a bad time", { ...sample, occurred_at: "yesterday" }],
    ["an address that is none", { ...sample, data: { ...(sample["data"] as object), ip: "10.77.0.256" } }],
    ["a prototype in place of data", { ...sample, data: JSON.parse('{"__proto__":{"ip":"10.0.0.1"}}') }],
  ])("is refused with words when it is %s", (_, value) => {
    const result = parseProbeEvent(value);
    expect(result.ok).toBe(false);
    expect(result.ok ? "" : result.message).not.toBe("");
  });
});

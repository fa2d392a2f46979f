import { createHash } from "node:crypto";
import { Command, type CommandType, EnrollmentToken, EnrollResponse, type EventData, MESSAGE_VERSION, PIECE_MAX_BYTES, probeTopic, type Reply } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { expect, onTestFinished } from "vitest";
import { createRequest } from "../../../certificates/testing/request.ts";
import { type Answer, type Stack, startStack } from "../../agents/testing/stack.ts";

/** What a test's probe does at a command: the data of its reply, or why it refuses; null to say nothing. */
type Handler = (data: Record<string, unknown>) => { readonly data: Reply["data"] } | { readonly refused: string; readonly reason?: string } | null;

/** A probe that is online, with its certificate. */
export interface RecordingProbe {
  readonly probeId: string;
  readonly heard: readonly Command[];
  readonly handlers: Partial<Record<CommandType, Handler>>;
  /** Reports captures. */
  tell(...reports: readonly Partial<EventData<"pcap_recorded">>[]): Promise<void>;
  /** Sends a file up, from the offset where it is; up to `until` bytes of it. */
  upload(id: string, content: Uint8Array, options?: { readonly until?: number; readonly kind?: string }): Promise<Answer>;
  /** Answers a command that its handler left alone. */
  answer(commandId: string, data: Reply["data"]): Promise<void>;
  /** The commands of a type that it has heard. */
  sent(type: CommandType): readonly Command[];
  end(): void;
}

/** A collector with HTTPS, broker, ingest and the service of captures, over a database of the test's. */
export interface PcapBench {
  readonly stack: Stack;
  probe(): Promise<RecordingProbe>;
  call(method: string, path: string, options?: Parameters<Stack["call"]>[2]): Promise<Answer>;
  audited(action: string): Promise<readonly { readonly target_id: string; readonly actor_name: string; readonly after: Record<string, unknown> | null; readonly before: Record<string, unknown> | null }[]>;
  events(type: string): Promise<readonly { readonly probe_id: string | null; readonly data: Record<string, unknown> }[]>;
  /** A capture that is here. */
  stored(probe: RecordingProbe, content: Uint8Array, report?: Partial<EventData<"pcap_recorded">>): Promise<string>;
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** What a probe says of a whole file. */
export function reportOf(content: Uint8Array, values: Partial<EventData<"pcap_recorded">> = {}): EventData<"pcap_recorded"> {
  return {
    pcap_id: createId(), trigger: "alert", state: "whole", detail: "", file_name: "store12-20261120.pcapng", size_bytes: content.length, sha256: sha256(content),
    packets: 7, started_at: "2026-11-20T08:14:30.250Z", finished_at: "2026-11-20T08:15:30.250Z", interfaces: ["eth1"], filter: "", snap_length: 262_144,
    headers_only: false, counters: { received: 9, dropped_by_kernel: 0, dropped_by_probe: 0, left_out: 2 }, alert_ids: [], macs: [], ips: [], summary: null,
    ...values,
  };
}

export async function openPcapBench(options: Parameters<typeof startStack>[0] = {}): Promise<PcapBench> {
  const stack = await startStack(options);
  const probes: RecordingProbe[] = [];
  onTestFinished(async () => {
    for (const probe of probes) probe.end();
    await stack.close();
  });
  const { db } = stack.database;
  const bench: PcapBench = {
    stack,
    call: (method, path, given) => stack.call(method, `/api/v1${path}`, given),
    async probe() {
      const probe = await connect(stack);
      probes.push(probe);
      return probe;
    },
    async audited(action) {
      const rows = await db.selectFrom("audit").selectAll().where("action", "=", action).orderBy("id").execute();
      const read = (text: string | null) => (text === null ? null : JSON.parse(text) as Record<string, unknown>);
      return rows.map(({ target_id, actor_name, before, after }) => ({ target_id, actor_name, before: read(before), after: read(after) }));
    },
    async events(type) {
      const rows = await db.selectFrom("events").select(["probe_id", "data"]).where("type", "=", type).orderBy("seq").execute();
      return rows.map(({ probe_id, data }) => ({ probe_id, data: JSON.parse(data) as Record<string, unknown> }));
    },
    async stored(probe, content, report) {
      const said = reportOf(content, report);
      await probe.tell(said);
      expect((await probe.upload(said.pcap_id, content)).status).toBe(200);
      await expect.poll(async () => (await bench.call("GET", `/pcap/${said.pcap_id}`)).body.state).toBe("ready");
      return said.pcap_id;
    },
  };
  return bench;
}

async function connect(stack: Stack): Promise<RecordingProbe> {
  const { token } = EnrollmentToken.parse((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } })).body);
  const { key, request } = await createRequest();
  const body = { token, certificate_request: request, name: "box" };
  const { probe_id: probeId, certificate } = EnrollResponse.parse((await stack.call("POST", "/api/v1/agents/enroll", { body })).body);
  const identity = { key, certificate };
  const topic = (channel: "commands" | "replies" | "status") => probeTopic(stack.tenantId, probeId, channel);
  const [heard, queueId] = [[] as Command[], createId()];
  const handlers: RecordingProbe["handlers"] = {};
  let seq = 0;
  const client = await stack.connect(probeId, identity);
  client.on("message", (_, payload) => {
    const command = Command.parse(JSON.parse(payload.toString()));
    heard.push(command);
    const outcome = handlers[command.type]?.(command.data) ?? null;
    if (!outcome) return;
    const reply = {
      v: MESSAGE_VERSION, command_id: command.id, ok: "data" in outcome, error: "data" in outcome ? null : { code: "refused", message: outcome.refused, ...(outcome.reason && { reason: outcome.reason }) },
      data: "data" in outcome ? outcome.data : {},
    };
    // A test may end before its last reply has arrived.
    client.publishAsync(topic("replies"), JSON.stringify(reply), { qos: 1 }).catch(() => {});
  });
  await client.subscribeAsync(topic("commands"), { qos: 1 });
  await client.publishAsync(topic("status"), JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at: toInstant(Date.now()) }), { qos: 1 });
  await expect.poll(async () => (await stack.call("GET", `/api/v1/agents/probes/${probeId}`)).body.state).toBe("online");
  return {
    probeId, heard, handlers,
    async tell(...reports) {
      const events = reports.map((data) => ({ seq: (seq += 1), type: "pcap_recorded", occurred_at: toInstant(Date.now()), data }));
      await stack.ingest.receive({
        tenantId: stack.tenantId, probeId, channel: "events", retained: false,
        payload: Buffer.from(JSON.stringify({ v: MESSAGE_VERSION, queue_id: queueId, after: seq - events.length, sent_at: toInstant(Date.now()), events })),
      });
    },
    async upload(id, content, { until = content.length, kind = "capture" } = {}) {
      const begun = await stack.call("POST", "/api/v1/agents/files", { body: { id, kind, size: content.length, sha256: sha256(content) }, identity });
      if (begun.status !== 200) return begun;
      for (let offset = Number(begun.body.offset); offset < until;) {
        const piece = content.subarray(offset, Math.min(until, offset + PIECE_MAX_BYTES));
        const sent = await stack.call("PUT", `/api/v1/agents/files/${id}/content?offset=${offset}&sha256=${sha256(piece)}`, { body: piece, identity });
        if (sent.status !== 200) return sent;
        offset += piece.length;
      }
      return until < content.length ? begun : stack.call("POST", `/api/v1/agents/files/${id}/finish`, { identity });
    },
    async answer(commandId, data) {
      await client.publishAsync(topic("replies"), JSON.stringify({ v: MESSAGE_VERSION, command_id: commandId, ok: true, error: null, data }), { qos: 1 });
    },
    sent: (type) => heard.filter((command) => command.type === type),
    end: () => void client.end(true),
  };
}

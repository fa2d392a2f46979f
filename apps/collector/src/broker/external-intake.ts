import { PAYLOAD_MAX_BYTES, parseProbeTopic, PROBE_CHANNELS } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { IPublishPacket } from "mqtt";
import type { ProbeReceiver, UpChannel } from "./broker.ts";

/** Payloads that have arrived and are not yet committed, of all probes together. Past it, nothing more is read. */
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Takes what an external broker brings: hands it to the receiver, and lets the next be read while not too much is under way.
 * @param deps.hear Takes what is from another collector; see `PeerMessages`.
 * @returns What is called for each message before it is answered; the next is read only after `done`.
 */
export function createIntake({ receiver, hear, log }: {
  readonly receiver: ProbeReceiver; readonly hear: (packet: IPublishPacket) => boolean; readonly log: Log;
}): (packet: IPublishPacket, done: () => void) => void {
  let inFlightBytes = 0;
  let waiting: (() => void)[] = [];
  const take = async (packet: IPublishPacket) => {
    if (hear(packet)) return;
    const address = parseProbeTopic(packet.topic);
    if (!address || PROBE_CHANNELS[address.channel] !== "up") return;
    const { tenantId, probeId } = address;
    const channel = address.channel as UpChannel;
    const payload = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
    if (payload.length > PAYLOAD_MAX_BYTES) return receiver.refused({ tenantId, probeId }, "too-large", channel);
    // An empty retained message is only the end of an earlier one.
    if (payload.length === 0 && packet.retain) return;
    inFlightBytes += payload.length;
    await receiver.receive({ tenantId, probeId, channel, payload, retained: packet.retain });
    inFlightBytes -= payload.length;
    if (inFlightBytes > IN_FLIGHT_MAX_BYTES) return;
    const released = waiting;
    waiting = [];
    for (const release of released) release();
  };
  return (packet, done) => {
    take(packet).catch(
      (error: unknown) => log.error({ topic: packet.topic, reason: describeError(error) }, "a message could not be processed"),
    );
    if (inFlightBytes <= IN_FLIGHT_MAX_BYTES) done();
    else waiting.push(done);
  };
}

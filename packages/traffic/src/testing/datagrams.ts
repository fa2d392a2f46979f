/** Datagrams played to an inspection. For tests only. */
import { createInspection } from "../inspector.ts";
import type { TrafficMessage } from "../traffic-message.ts";
import type { Turn } from "./conversation.ts";

/** Plays a conversation of datagrams; each one's memory is overwritten after the call. */
export function playDatagrams(turns: readonly Turn[]): { readonly messages: readonly TrafficMessage[]; readonly service: string; readonly isDone: boolean } {
  const messages: TrafficMessage[] = [];
  const inspector = createInspection<null>({ onMessage: (_, message) => messages.push(structuredClone(message)) }).open(null);
  for (const [index, { side, bytes }] of turns.entries()) {
    const memory = bytes.slice();
    inspector.datagram(side, memory, index);
    memory.fill(0xee);
  }
  const { isDone, service } = inspector;
  inspector.end();
  return { messages, service, isDone };
}

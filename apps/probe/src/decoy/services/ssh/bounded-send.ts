import type { ServerChannel } from "ssh2";
import { MAX_UNREAD_BYTES, type Peer } from "../service.ts";

/** @returns What writes to the channel; who does not read what is written there is ended. */
export function createBoundedSend(channel: ServerChannel, { stream }: Pick<Peer, "stream">): (data: string | Uint8Array) => void {
  return (data) => {
    if (data.length === 0 || !channel.writable) return;
    if (channel.writableLength + stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
    else channel.write(data);
  };
}

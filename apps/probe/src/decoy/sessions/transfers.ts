/** Conversations that go on from a port of their own, each with one peer. */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import type { Transfer } from "../services/datagrams/service.ts";

/** Those that there are. */
export interface TransferTable {
  /**
   * Of those to which nothing came, whose addresses may be forged, the oldest ends where there is no room.
   * @param given.mayBegin Whether the first datagram may be sent, of so many octets. Each that comes to the port is answered once, and with no more octets than it has.
   * @returns Null where there are too many, of all or of this peer.
   */
  open(given: {
    readonly address: string; readonly peer: string; readonly peerPort: number; readonly mayBegin: (octets: number) => boolean;
    readonly read: (bytes: Buffer) => void; readonly onEnd: () => void; readonly onFailure: (error: unknown) => void;
  }): Transfer | null;
  close(): void;
}

const MAX_TRANSFERS = 64;
const MAX_OF_PEER = 8;
/** Where nothing comes. */
const IDLE_MS = 15_000;
/** A transfer of a megabyte takes 2,048 datagrams. */
const MAX_DATAGRAMS = 8192;

interface Open {
  readonly peer: string;
  /** It goes on, and nothing has come to its port, which nobody knows but who was sent something from there. */
  isSilent: boolean;
  readonly finish: () => void;
}

/** @returns One without any. */
export function createTransferTable(clock: Pick<Clock, "after">): TransferTable {
  const open = new Map<Socket, Open>();
  const makeRoom = (): boolean => {
    if (open.size < MAX_TRANSFERS) return true;
    [...open.values()].find(({ isSilent }) => isSilent)?.finish();
    return open.size < MAX_TRANSFERS;
  };
  return {
    open({ address, peer, peerPort, mayBegin, read, onEnd, onFailure }) {
      if ([...open.values()].filter((one) => one.peer === peer).length >= MAX_OF_PEER || !makeRoom()) return null;
      const socket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4" });
      let [received, sending, room, isOver] = [0, 0, 0, false];
      const finish = () => {
        if (isOver) return;
        [isOver, one.isSilent] = [true, false];
        cancel();
        try {
          onEnd();
        } catch (error) {
          onFailure(error);
        }
        closeUnused();
      };
      const closeUnused = () => {
        if (isOver && sending === 0 && open.delete(socket)) socket.close();
      };
      let cancel = clock.after(IDLE_MS, finish);
      const one: Open = { peer, isSilent: true, finish };
      open.set(socket, one);
      socket.on("error", () => {
        sending = 0;
        finish();
      });
      socket.on("message", (bytes, from) => {
        if (isOver || from.address !== peer || from.port !== peerPort) return;
        cancel();
        cancel = clock.after(IDLE_MS, finish);
        received += 1;
        [one.isSilent, room] = [false, bytes.length];
        if (received > MAX_DATAGRAMS) return finish();
        try {
          read(bytes);
        } catch (error) {
          onFailure(error);
          finish();
        }
      });
      socket.bind({ address, port: 0, exclusive: true });
      return {
        send(bytes) {
          if (isOver || (received === 0 ? !mayBegin(bytes.length) : bytes.length > room)) return;
          room = 0;
          socket.send(bytes, peerPort, peer, () => {
            sending -= 1;
            closeUnused();
          });
          sending += 1;
        },
        close: finish,
      };
    },
    close() {
      for (const { finish } of open.values()) finish();
    },
  };
}

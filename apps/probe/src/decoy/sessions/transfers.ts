/** Conversations that go on from a port of their own, each with one peer. */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import type { Transfer } from "../services/datagrams/service.ts";

/** Those that there are. */
export interface TransferTable {
  /**
   * Where there is no room, the oldest ends of those to which nothing came, whose addresses may be forged; where there are none of these, the oldest of the peer that has most.
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
/** From its begin, whatever comes: a transfer of a megabyte takes seconds. */
const LIFETIME_MS = 600_000;
/** A transfer of a megabyte takes 2,048 datagrams. */
const MAX_DATAGRAMS = 8192;

interface Open {
  readonly peer: string;
  /** It goes on, and nothing has come to its port, which nobody knows but who was sent something from there. */
  isSilent: boolean;
  /** What it sent last is still on its way. */
  isOver: boolean;
  readonly finish: () => void;
}

/** @returns One without any. */
export function createTransferTable(clock: Pick<Clock, "after">): TransferTable {
  const open = new Map<Socket, Open>();
  const makeRoom = (): boolean => {
    if (open.size < MAX_TRANSFERS) return true;
    const all = [...open.values()].filter(({ isOver }) => !isOver);
    (all.find(({ isSilent }) => isSilent) ?? oldestOfMost(all))?.finish();
    return open.size < MAX_TRANSFERS;
  };
  return {
    open({ address, peer, peerPort, mayBegin, read, onEnd, onFailure }) {
      if ([...open.values()].filter((one) => one.peer === peer).length >= MAX_OF_PEER || !makeRoom()) return null;
      const socket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4" });
      let [received, sending, room] = [0, 0, 0];
      const finish = () => {
        if (one.isOver) return;
        one.isOver = true;
        cancel();
        cancelLife();
        try {
          onEnd();
        } catch (error) {
          onFailure(error);
        }
        closeUnused();
      };
      const closeUnused = () => {
        if (one.isOver && sending === 0 && open.delete(socket)) socket.close();
      };
      const cancelLife = clock.after(LIFETIME_MS, finish);
      let cancel = clock.after(IDLE_MS, finish);
      const one: Open = { peer, isSilent: true, isOver: false, finish };
      open.set(socket, one);
      socket.on("error", () => {
        sending = 0;
        finish();
      });
      socket.on("message", (bytes, from) => {
        if (one.isOver || from.address !== peer || from.port !== peerPort) return;
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
          if (one.isOver || (received === 0 ? !mayBegin(bytes.length) : bytes.length > room)) return;
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

/** @param all Each after those that are older. */
function oldestOfMost(all: readonly Open[]): Open | undefined {
  const counts = new Map<string, number>();
  for (const { peer } of all) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return all.find(({ peer }) => counts.get(peer) === most);
}

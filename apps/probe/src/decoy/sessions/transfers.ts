/** Conversations that go on from a port of their own, each with one peer. */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import type { Transfer } from "../services/datagrams/service.ts";

/** Those that there are. */
export interface TransferTable {
  /** @returns Null where there are too many. */
  open(given: {
    readonly address: string; readonly peer: string; readonly peerPort: number; readonly read: (bytes: Buffer) => void; readonly onEnd: () => void; readonly onFailure: (error: unknown) => void;
  }): Transfer | null;
  close(): void;
}

const MAX_TRANSFERS = 64;
/** Where nothing comes. */
const IDLE_MS = 15_000;
/** A transfer of a megabyte takes 2,048 datagrams. */
const MAX_DATAGRAMS = 8192;

/** @returns One without any. */
export function createTransferTable(clock: Pick<Clock, "after">): TransferTable {
  const open = new Map<Socket, () => void>();
  return {
    open({ address, peer, peerPort, read, onEnd, onFailure }) {
      if (open.size >= MAX_TRANSFERS) return null;
      const socket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4" });
      let [received, sending, isOver] = [0, 0, false];
      const finish = () => {
        if (isOver) return;
        isOver = true;
        cancel();
        onEnd();
        closeUnused();
      };
      const closeUnused = () => {
        if (isOver && sending === 0 && open.delete(socket)) socket.close();
      };
      let cancel = clock.after(IDLE_MS, finish);
      open.set(socket, finish);
      socket.on("error", () => {
        sending = 0;
        finish();
      });
      socket.on("message", (bytes, from) => {
        if (isOver || from.address !== peer || from.port !== peerPort) return;
        cancel();
        cancel = clock.after(IDLE_MS, finish);
        received += 1;
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
          if (isOver) return;
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
      for (const finish of open.values()) finish();
    },
  };
}

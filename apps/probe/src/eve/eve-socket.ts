/** Listens for a Suricata whose `eve-log` has `filetype: unix_stream`: it connects, and connects again when the probe was away. */
import { chmod, lstat, unlink } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { connect } from "node:net";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { MAX_LINE_BYTES } from "./eve-file.ts";
import { createLineReader } from "./lines.ts";

/** How listening goes. */
export interface EveSocketState {
  readonly status: "listening" | "unreadable";
  readonly problem: string;
  readonly connections: number;
  readonly tooLong: number;
}

/** The listener. */
export interface EveSocket {
  state(): EveSocketState;
  close(): Promise<void>;
}

/** A Suricata has one for each `eve-log`. */
const MAX_CONNECTIONS = 8;
const RETRY_MS = 5000;

/** @param deps.onLine Gets a view that is good during the call. */
export function listenForEve(path: string, deps: {
  readonly onLine: (line: Buffer) => void;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn">;
}): EveSocket {
  const sockets = new Set<Socket>();
  const counts = { tooLong: 0 };
  let problem = "it is not listening yet";
  let isClosed = false;
  let cancel = () => {};
  const server = createServer((socket) => {
    if (sockets.size >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    const lines = createLineReader(MAX_LINE_BYTES, deps.onLine, () => (counts.tooLong += 1));
    sockets.add(socket);
    socket.on("data", (bytes: Buffer) => lines.read(bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => void sockets.delete(socket));
  });
  server.on("error", (error) => fail(error));

  function fail(error: unknown): void {
    const reason = describeError(error);
    if (reason !== problem) deps.log.warn({ path, reason }, "cannot listen for Suricata's EVE output; trying again");
    problem = reason;
    if (!isClosed) cancel = deps.clock.after(RETRY_MS, () => void begin());
  }

  async function begin(): Promise<void> {
    try {
      await removeLeft(path);
      if (isClosed) return;
      server.listen(path, () => {
        problem = "";
        // Suricata drops its rights; who may enter the folder may write.
        chmod(path, 0o666).catch(fail);
      });
    } catch (error) {
      fail(error);
    }
  }

  void begin();
  return {
    state: () => ({ status: problem === "" ? "listening" : "unreadable", problem, connections: sockets.size, ...counts }),
    async close() {
      isClosed = true;
      cancel();
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Removes what a killed process left; what somebody listens at, or is no socket, stays. @throws Error that says which. */
async function removeLeft(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isSocket()) throw new Error(`${path} is there and is no socket; remove it, or set another path`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await new Promise<void>((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      reject(new Error(`another process listens at ${path}`));
    });
    socket.once("error", () => resolve());
  });
  await unlink(path);
}

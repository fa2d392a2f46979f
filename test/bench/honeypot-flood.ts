import { connect, type Socket } from "node:net";

const [port = 0, sources = 0, perSource = 0, perSecond = 0, holdSeconds = 0] = process.argv.slice(2).map(Number);
const TICK_MS = 10;
/** A session is silent no longer than that. */
const TYPE_MS = 60_000;

/** Connects from many addresses of loopback at a pace, keeps or drops the connections, and prints how many there were in a second, and how many of those that are kept lasted. */
async function flood(): Promise<void> {
  const kept = new Set<Socket>();
  let [open, failed] = [0, 0];
  const total = sources * perSource;
  const begin = performance.now();
  const keep = (socket: Socket) => {
    kept.add(socket.resume());
    socket.on("close", () => kept.delete(socket));
  };
  const dial = (number: number) =>
    new Promise<void>((resolve) => {
      const source = number % sources;
      const socket = connect({ port, host: "127.0.0.1", localAddress: `127.1.${source >> 7}.${1 + (source & 127)}` });
      socket.on("error", () => {
        failed += 1;
        resolve();
      });
      socket.on("connect", () => {
        open += 1;
        if (holdSeconds > 0) keep(socket);
        else socket.destroy();
        resolve();
      });
    });
  const waiting: Promise<void>[] = [];
  for (let number = 0; number < total;) {
    const due = Math.min(total, Math.ceil((performance.now() - begin) * perSecond / 1000));
    for (; number < due; number += 1) waiting.push(dial(number));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(waiting);
  const seconds = (performance.now() - begin) / 1000;
  const typing = setInterval(() => {
    for (const socket of kept) socket.write("a");
  }, TYPE_MS);
  await new Promise((resolve) => setTimeout(resolve, holdSeconds * 1000));
  clearInterval(typing);
  process.stdout.write(`${JSON.stringify({ open, failed, per_second: Math.round(open / seconds), held: kept.size })}\n`);
  process.exit(0);
}

await flood();

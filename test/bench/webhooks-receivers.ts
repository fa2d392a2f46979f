import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What the process of receivers says to who started it. */
export type FromReceivers =
  | { readonly ports: readonly number[] }
  | { readonly arrivals: readonly Arrival[] };

/** A delivery that came: to which receiver, which event, and when by the clock that all processes of a machine share. */
export interface Arrival {
  readonly receiver: number;
  readonly eventId: string;
  readonly atMs: number;
}

const [healthy = 0, hanging = 0] = process.argv.slice(2).map(Number);

/** Receivers in a process of their own: the first `healthy` answer 204 at once, the others never. */
async function listen(): Promise<void> {
  const arrivals: Arrival[] = [];
  const ports: number[] = [];
  for (let receiver = 0; receiver < healthy + hanging; receiver += 1) {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      request.resume();
      request.on("error", () => {});
      if (receiver >= healthy) return;
      request.on("end", () => {
        arrivals.push({ receiver, eventId: String(request.headers["webhook-id"]), atMs: Number(process.hrtime.bigint()) / 1e6 });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    ports.push((server.address() as AddressInfo).port);
  }
  const tell = (message: FromReceivers) => process.send?.(message);
  // Told as they come, so that who waits for them need not ask.
  setInterval(() => tell({ arrivals: arrivals.splice(0) }), 20);
  tell({ ports });
}

process.on("disconnect", () => process.exit());
await listen();

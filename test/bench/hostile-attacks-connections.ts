import { createConnection, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { type Attack, loopback, repeat, send } from "./hostile-means.ts";

const SOCKETS = 5000;
/** On each listener with TLS, where nothing is said at all. */
const SILENT_SOCKETS = 500;
const STREAMS = 1500;
/** How often each socket says a little, so that it does not seem idle. */
const DRIP_MS = 2000;

/** One address holds thousands of connections, and says its headers a few bytes at a time. */
export const heldConnections: Attack = async ({ url, httpsPort, mqttPort, seconds }, tally) => {
  const { hostname: host, port } = new URL(url);
  const places = [
    ...Array.from({ length: SILENT_SOCKETS }, () => httpsPort), ...Array.from({ length: SILENT_SOCKETS }, () => mqttPort),
    ...Array.from({ length: SOCKETS - 2 * SILENT_SOCKETS }, () => Number(port)),
  ];
  const held = new Set<Socket>();
  const hold = (place: number) => {
    const socket = createConnection({ host, port: place, localAddress: loopback(30, 1) });
    let isOpen = false;
    tally.sent(0);
    socket.on("connect", () => {
      isOpen = true;
      held.add(socket);
      if (place === Number(port)) socket.write("GET /api/health HTTP/1.1\r\nhost: collector\r\n");
    });
    socket.on("error", () => {});
    socket.resume();
    socket.on("close", () => {
      held.delete(socket);
      tally.answer(isOpen ? "closed" : "refused");
    });
  };
  const end = performance.now() + (seconds - 1) * 1000;
  for (const [index, place] of places.entries()) {
    if (performance.now() > end) break;
    hold(place);
    if (index % 200 === 199) await pause(20);
  }
  for (let turn = 0; performance.now() < end; turn += 1) {
    for (const socket of held) socket.write(`x-${turn}: 1\r\n`, () => {});
    await pause(Math.max(0, Math.min(DRIP_MS, end - performance.now())));
    // Whoever was thrown out comes back, a few hundred at a time.
    for (let index = held.size; index < Math.min(SOCKETS, held.size + 400); index += 1) hold(Number(port));
  }
  tally.answer("held at the end", held.size);
  for (const socket of held) socket.destroy();
};

/** One tenant's user opens more streams than there are places for all tenants. */
export const streams: Attack = async ({ url, admin, seconds }, tally) => {
  const open = new Set<WebSocket>();
  await repeat({ seconds: seconds - 1, atOnce: 40, most: STREAMS }, async () => {
    const { text, answer } = await send(`${url}/api/v1/ws/ticket`, {
      method: "POST", from: loopback(31, 1), headers: { "x-api-key": admin.apiKey },
    });
    if (!answer.startsWith("2")) return tally.answer(`ticket ${answer}`);
    const { ticket } = JSON.parse(text) as { readonly ticket: string };
    tally.sent(0);
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws/events?ticket=${ticket}&since=0`, {
      localAddress: loopback(31, 1), handshakeTimeout: 3000,
    });
    return new Promise<void>((resolve) => {
      socket.on("open", () => {
        open.add(socket);
        tally.answer("opened");
        resolve();
      });
      socket.on("unexpected-response", (_request, response) => {
        tally.answer(String(response.statusCode));
        socket.terminate();
        resolve();
      });
      socket.on("error", () => resolve());
      socket.on("close", (code) => {
        if (open.delete(socket)) tally.answer(`closed ${code}`);
        resolve();
      });
    });
  });
  await pause(300);
  tally.answer("held at the end", open.size);
};

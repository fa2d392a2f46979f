import { createServer, request, type Server } from "node:http";

/** A proxy that has the collector below a path, and takes that path away. */
export async function openProxy(prefix: string, target: string): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "";
    if (!path.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const passed = request(`${target}${path.slice(prefix.length)}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

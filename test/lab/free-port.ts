import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** @returns A port of loopback that nobody had a moment ago: for daemons that cannot be asked which one they chose. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

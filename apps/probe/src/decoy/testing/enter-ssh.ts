import { once } from "node:events";
import { Client } from "ssh2";
import { connectTo } from "./converse.ts";

/** Lets itself in with the bait of `openForTest`. @param from An address of loopback. */
export async function enterSsh(port: number, from: string): Promise<Client> {
  const client = new Client();
  client.on("error", () => undefined);
  client.connect({ sock: await connectTo(port, from), username: "backup", password: "Blue-Heron-4" });
  await once(client, "ready");
  return client;
}

import { connect } from "node:net";
import { ErrorEnvelope } from "@lanthorn/contract";
import { WebSocket } from "ws";

/** How an attempt to open a WebSocket went. */
export type Upgrade =
  | { readonly socket: WebSocket; readonly headers: Readonly<Record<string, unknown>>; readonly closed: Promise<number> }
  | { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly error: ErrorEnvelope["error"] };

/** @param url Of HTTP. @param options.localAddress From which the connection comes. */
export function openWebSocket(url: string, options: { readonly localAddress?: string } = {}): Promise<Upgrade> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws"), options);
    const closed = new Promise<number>((done) => void socket.on("close", done));
    let headers: Readonly<Record<string, unknown>> = {};
    socket.on("upgrade", (response) => (headers = response.headers));
    socket.on("open", () => resolve({ socket, headers, closed }));
    socket.on("unexpected-response", (_, response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk)).on("end", () => {
        const { error } = ErrorEnvelope.parse(JSON.parse(body));
        resolve({ status: response.statusCode ?? 0, headers: response.headers, error });
      });
    });
    socket.on("error", reject);
  });
}

/** @returns The stream of an attempt that must succeed. */
export async function openedWebSocket(...args: Parameters<typeof openWebSocket>): Promise<Extract<Upgrade, { socket: WebSocket }>> {
  const upgrade = await openWebSocket(...args);
  if ("socket" in upgrade) return upgrade;
  throw new Error(`refused with ${upgrade.status}: ${upgrade.error.message}`);
}

/** @returns The status of an attempt that must be refused, with its code and its headers. */
export async function refusedWebSocket(...args: Parameters<typeof openWebSocket>): Promise<Extract<Upgrade, { status: number }>> {
  const upgrade = await openWebSocket(...args);
  if ("status" in upgrade) return upgrade;
  upgrade.socket.terminate();
  throw new Error("it was not refused");
}

/** Sends bytes and reads the answer until the other side closes. */
export function sendRaw(port: number, text: string, options: { readonly host?: string } = {}): Promise<{
  readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string;
}> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, options.host ?? "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => chunks.push(chunk)).on("error", reject).on("end", () => {
      const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
      const [first = "", ...lines] = head.split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => [line.split(":", 1)[0]?.toLowerCase(), line.replace(/^[^:]*: */, "")]));
      resolve({ status: Number(first.split(" ")[1]), headers, body });
      socket.destroy();
    });
  });
}
